// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/resource"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/crdschema"
	"github.com/nexus-operator/nexus-operator/internal/options"
)

// manifests reads files without a cluster, and adds the defaults of our kinds.
func (s *shared) manifests(files *resource.FilenameOptions) ([]*unstructured.Unstructured, *crdschema.Schemas, error) {
	return s.manifestsOf(files, resource.NewLocalBuilder().Unstructured().Local().FilenameParam(false, files))
}

// manifestsOf reads manifests with a builder. With one that continues after an error, it returns both objects and an error.
func (s *shared) manifestsOf(files *resource.FilenameOptions, from *resource.Builder) ([]*unstructured.Unstructured, *crdschema.Schemas, error) {
	if len(files.Filenames) == 0 && files.Kustomize == "" {
		return nil, nil, usage("say what to read: -f FILE or -k DIR")
	}
	schemas, err := crdschema.Load(s.CRDs)
	if err != nil {
		return nil, nil, err
	}
	objects, unread := s.objects(from.Flatten())
	return s.inNamespace(schemas, objects), schemas, unread
}

// inNamespace gives objects that name no namespace the one of the command line, or the default one.
func (s *shared) inNamespace(schemas *crdschema.Schemas, objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	namespace := "default"
	if s.enforcesNamespace() {
		namespace = *s.cluster.Namespace
	}
	for _, u := range objects {
		if u.GetNamespace() == "" && schemas.Namespaced(u.GetKind()) {
			u.SetNamespace(namespace)
		}
	}
	return objects
}

// checkFiles returns the mistakes that show in files without a cluster, before the cluster is asked for anything: a file that does not
// exist, or that is no YAML. Standard input can be read only once, and a URL need not be read twice.
func (s *shared) checkFiles(files *resource.FilenameOptions) error {
	local := *files
	local.Filenames = slices.DeleteFunc(slices.Clone(files.Filenames), func(name string) bool {
		return name == "-" || strings.Contains(name, "://")
	})
	if len(local.Filenames) == 0 && local.Kustomize == "" {
		return nil
	}
	text, err := textMistakes(&local, nil)
	if err != nil {
		return usage("%w", err)
	}
	mistakes := text.mistakes
	var wrong []string
	for _, path := range slices.Sorted(maps.Keys(mistakes)) {
		wrong = append(wrong, path+": "+strings.Join(mistakes[path], "; "))
	}
	if len(wrong) > 0 {
		return usage("%s", strings.Join(wrong, "; "))
	}
	return s.checkKinds(&local)
}

// checkKinds returns the mistakes in the kinds of the objects in files.
func (s *shared) checkKinds(files *resource.FilenameOptions) error {
	objects, err := s.objects(resource.NewLocalBuilder().Unstructured().Local().FilenameParam(false, files).Flatten())
	if err != nil {
		return err
	}
	var wrong []string
	for _, u := range objects {
		mistake, err := s.kindMistake(u)
		if err != nil {
			return err
		}
		if mistake != "" {
			wrong = append(wrong, titleOfObject(u)+": "+mistake)
		}
	}
	if len(wrong) > 0 {
		return usage("%s", strings.Join(wrong, "; "))
	}
	return nil
}

// kindMistake says which kind or version of ours is meant by one that does not exist; empty for one that may exist in a cluster.
func (s *shared) kindMistake(u *unstructured.Unstructured) (string, error) {
	scheme, err := ownTypes()
	if err != nil || scheme.Recognizes(u.GroupVersionKind()) {
		return "", err
	}
	if !isOurGroup(u.GroupVersionKind().Group) {
		return strings.Join(foreignProblems(scheme, u), "; "), nil
	}
	schemas, err := crdschema.Load(s.CRDs)
	if err != nil {
		return "", err
	}
	if schemas.Closest(u.GetKind()) == "" && meantVersion(scheme, u.GetKind()) == "" {
		return "", nil // an operator that is newer may have it
	}
	return unknownKind(scheme, schemas, u), nil
}

// capabilityOf reads a capability as the API server would, with its defaults.
func capabilityOf(schemas *crdschema.Schemas, u *unstructured.Unstructured) (*nexusv1.NexusAICapability, error) {
	if err := schemas.Default(u); err != nil {
		return nil, err
	}
	c := &nexusv1.NexusAICapability{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(u.Object, c, true); err != nil {
		return nil, fmt.Errorf("%s: %w", titleOfObject(u), err)
	}
	return c, nil
}

// offlineOptions returns the options of an operator that was started with this command's environment and --operator-arg flags.
func (s *shared) offlineOptions() (options.Options, error) {
	o, err := options.Parse(s.operatorArgs, s.Getenv)
	if err != nil {
		return o, usage("the operator's flags: %w", err)
	}
	o.Region = cmp.Or(s.region, o.Region)
	return o, nil
}

func isCapability(u *unstructured.Unstructured) bool {
	gvk := u.GroupVersionKind()
	return gvk.Group == nexusv1.GroupVersion.Group && gvk.Kind == "NexusAICapability"
}

func titleOfObject(u *unstructured.Unstructured) string {
	name := u.GetName()
	if name == "" && u.GetGenerateName() != "" {
		name = u.GetGenerateName() + "*"
	}
	if u.GetNamespace() == "" {
		return u.GetKind() + " " + name
	}
	return u.GetKind() + " " + u.GetNamespace() + "/" + name
}
