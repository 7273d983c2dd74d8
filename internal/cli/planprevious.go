// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/plan"
	"github.com/nexus-operator/nexus-operator/internal/validate"
)

// changeset is a change of a folder of manifests: the objects that it declares, and those that it no longer declares.
type changeset struct {
	declared, dropped []*unstructured.Unstructured
}

// readChangeset reads the manifests of -f or -k, and with --previous those that they replace.
func (s *planVerb) readChangeset(f *planFlags) (*changeset, error) {
	files, previous := f.sources()
	declared, err := s.readFiles(&files)
	if err != nil {
		return nil, err
	}
	before, err := s.readFiles(&previous)
	if err != nil {
		return nil, fmt.Errorf("--previous: %w", err)
	}
	c := &changeset{declared: declared}
	c.dropped = slices.DeleteFunc(before, func(u *unstructured.Unstructured) bool { return slices.ContainsFunc(declared, withKeyOf(u)) })
	s.leaveOut(c, f.server)
	return c, nil
}

func (s *planVerb) readFiles(files *resource.FilenameOptions) ([]*unstructured.Unstructured, error) {
	if len(files.Filenames) == 0 && files.Kustomize == "" {
		return nil, nil
	}
	return s.Objects(s.FromFiles(s.Builder(), files).Flatten())
}

// sources returns the files of -f or -k, and those of --previous. With --previous, a folder may have no manifest, and one of -f may be
// gone: a change may delete the last of them.
func (f *planFlags) sources() (files, previous resource.FilenameOptions) {
	files, previous = f.files, resource.FilenameOptions{Recursive: f.files.Recursive}
	if len(f.previous) > 0 {
		files.Filenames = slices.DeleteFunc(slices.Clone(files.Filenames), func(name string) bool { return f.holdsNothing(name) })
		previous.Filenames = slices.DeleteFunc(slices.Clone(f.previous), func(name string) bool {
			_, err := os.Stat(name)
			return err == nil && f.holdsNothing(name)
		})
	}
	return files, previous
}

func (f *planFlags) holdsNothing(name string) bool {
	if name == connection.StandardInput || strings.Contains(name, "://") {
		return false
	}
	files, err := validate.ManifestFiles(name, f.files.Recursive)
	return err == nil && len(files) == 0
}

// checkFiles returns the mistakes that show in the files without a cluster.
func (f *planFlags) checkFiles(s *connection.Connection) error {
	files, previous := f.sources()
	if err := validate.CheckFiles(s, &files); err != nil {
		return err
	}
	if err := validate.CheckFiles(s, &previous); err != nil {
		return fmt.Errorf("--previous: %w", err)
	}
	return nil
}

// withKeyOf finds the object with the kind and name of another one.
func withKeyOf(a *unstructured.Unstructured) func(*unstructured.Unstructured) bool {
	return func(b *unstructured.Unstructured) bool {
		return a.GroupVersionKind().GroupKind() == b.GroupVersionKind().GroupKind() &&
			client.ObjectKeyFromObject(a) == client.ObjectKeyFromObject(b)
	}
}

// leaveOut removes the dropped objects that have no plan for their deletion, and prints their names.
func (s *planVerb) leaveOut(c *changeset, server bool) {
	var left []string
	c.dropped = slices.DeleteFunc(c.dropped, func(u *unstructured.Unstructured) bool {
		out := !plan.Removable(u.GroupVersionKind()) || server && (u.GetNamespace() == "" || u.GetKind() == "AWSProvider")
		if out {
			left = append(left, console.TitleOf(u))
		}
		return out
	})
	if len(left) > 0 {
		s.Say("No longer declared, and not in the plan: %s.", strings.Join(left, ", "))
	}
}

// planChangeset plans that the declared objects are applied, and the dropped ones that exist are deleted.
func (s *planVerb) planChangeset(ctx context.Context, p *plan.Planner, f *planFlags) (plan.Plan, error) {
	c, err := s.readChangeset(f)
	if err != nil {
		return plan.Plan{}, err
	}
	found, err := p.Apply(ctx, c.declared)
	if err != nil || len(c.dropped) == 0 {
		return found, err
	}
	var existing []*unstructured.Unstructured
	for _, u := range c.dropped {
		live := &unstructured.Unstructured{}
		live.SetGroupVersionKind(u.GroupVersionKind())
		if err := p.Client.Get(ctx, client.ObjectKeyFromObject(u), live); client.IgnoreNotFound(err) != nil {
			return plan.Plan{}, fmt.Errorf("reading %s: %w", console.TitleOf(u), err)
		} else if err == nil {
			existing = append(existing, live)
		}
	}
	removed, err := p.Remove(ctx, existing)
	return found.With(removed), err
}
