// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/testkit/awstypes"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

// life is one object from its creation to its end. Each phase is "" while it was not reached, holds when it went as with AWS,
// or what was seen instead.
type life struct {
	object                         *unstructured.Unstructured
	ready, rest, edit, drift, gone string
	// change is the edit of an object of any type; nil where the kind says it.
	change *change
}

// holds is the result of a phase that went as with AWS.
const holds = "yes"

// How long an object may take for a check and for an edit, and how long a phase of all objects goes on without a change.
const (
	untilChecked = 30 * time.Second
	untilEdited  = time.Minute
	untilQuiet   = 75 * time.Second
)

// liveKinds lives the examples of the kinds, all at once, as they refer to each other.
func (s *stage) liveKinds(ctx context.Context, lives []*life) ([]*life, error) {
	before, err := s.inventory(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.createPasswords(ctx); err != nil {
		return nil, err
	}
	for _, l := range lives {
		if err := s.create(ctx, l.object); err != nil {
			return nil, err
		}
	}
	s.sayf("%d objects are created", len(lives))
	s.awaitReady(ctx, lives)
	s.checkAtRest(ctx, lives)
	s.editAll(ctx, lives)
	if err := s.deleteAll(ctx, lives); err != nil {
		return nil, err
	}
	return lives, s.findResidue(ctx, lives, before)
}

// examples reads the objects of examples/aws, and makes those of any type; of kinds, and what these name, when there are any.
func examples(kinds []string, types *awstypes.Types, more int) ([]*life, error) {
	objects, err := world.ReadManifests(filepath.Join("examples", "aws"))
	if err != nil {
		return nil, err
	}
	lives, err := typeLives(types, more)
	if err != nil {
		return nil, err
	}
	for _, o := range objects {
		if o.GetKind() != anyKind { // it is one of examples/any-type
			adapt(o)
			lives = append(lives, &life{object: o})
		}
	}
	if len(kinds) == 0 {
		return lives, nil
	}
	wanted := map[string]bool{"AWSProvider/default": true}
	for again := true; again; {
		again = false
		for _, l := range lives {
			if key := l.key(); wanted[key] || slices.Contains(kinds, l.object.GetKind()) {
				for _, named := range append(references(l.object, lives), key) {
					again = again || !wanted[named]
					wanted[named] = true
				}
			}
		}
	}
	return slices.DeleteFunc(lives, func(l *life) bool { return !wanted[l.key()] }), nil
}

// adapt leaves out of an example what the emulator would need to know and does not, so that the rest of the kind is lived.
func adapt(o *unstructured.Unstructured) {
	spec, _ := o.Object["spec"].(map[string]any)
	switch o.GetKind() {
	case anyKind: // buckets of vectors have no ARN
		if o.GetName() == "documents" {
			_ = unstructured.SetNestedField(spec, "arn:aws:s3vectors:"+region+":"+account+":bucket/team-a-vectors", "properties", "VectorBucketArn")
		}
	case "EC2Instance": // key pairs are never owned
		delete(spec, "keyPairRef")
	case "ElastiCacheCluster": // security groups of cache clusters are not shown
		delete(spec, "securityGroupRefs")
	case "NATGateway": // addresses of gateways are not shown
		delete(spec, "allocationRef")
		spec["connectivityType"] = "private"
	case "RDSInstance": // passwords that RDS keeps are not shown
		delete(spec, "manageMasterUserPassword")
		spec["masterUserPasswordSecretRef"] = map[string]any{"name": passwords, "key": "password"}
	}
}

// passwords is a Secret with the password of databases.
const passwords = "database-passwords"

func (s *stage) createPasswords(ctx context.Context) error {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: passwords, Namespace: metav1.NamespaceDefault},
		StringData: map[string]string{"password": "nexus-second-emulator"}}
	return s.client.Create(ctx, secret)
}

// references lists the objects whose names occur in the references of an object; one that shares its name with the object that is
// meant is created too.
func references(o *unstructured.Unstructured, lives []*life) []string {
	var out []string
	text := fmt.Sprint(o.Object["spec"])
	for _, l := range lives {
		if strings.Contains(text, "name:"+l.object.GetName()+"]") {
			out = append(out, l.key())
		}
	}
	return out
}

func (l *life) key() string { return l.object.GetKind() + "/" + l.object.GetName() }

func (s *stage) create(ctx context.Context, o *unstructured.Unstructured) error {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: o.GetNamespace()}}
	if err := client.IgnoreAlreadyExists(s.client.Create(ctx, ns)); err != nil {
		return err
	}
	if err := s.client.Create(ctx, o); err != nil {
		return fmt.Errorf("%s %s: %w", o.GetKind(), o.GetName(), err)
	}
	return nil
}

// awaitReady waits until every object is Ready of its generation, and notes what the others say.
func (s *stage) awaitReady(ctx context.Context, lives []*life) {
	s.awaitPhase(ctx, untilQuiet, lives, func(l *life) string {
		l.ready = s.readiness(ctx, l.object)
		return l.ready
	})
	s.sayf("%d of %d objects are Ready", count(lives, func(l *life) bool { return l.ready == holds }), len(lives))
}

// readiness reads an object and returns holds, or what its conditions say.
func (s *stage) readiness(ctx context.Context, o *unstructured.Unstructured) string {
	if err := s.client.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
		return err.Error()
	}
	observed, _, _ := unstructured.NestedInt64(o.Object, "status", "observedGeneration")
	status, words := condition(o, "Ready")
	switch {
	case observed != o.GetGeneration():
		return fmt.Sprintf("generation %d is not observed; %s", o.GetGeneration(), words)
	case status != "True":
		return words
	default:
		return holds
	}
}

func condition(o *unstructured.Unstructured, name string) (status, words string) {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, c := range conditions {
		if m, ok := c.(map[string]any); ok && m["type"] == name {
			return fmt.Sprint(m["status"]), fmt.Sprintf("%v: %v", m["reason"], m["message"])
		}
	}
	return "", "no condition " + name
}

// checkAtRest asks for a check of each object that is Ready, one after the other, and notes what was written to AWS meanwhile.
func (s *stage) checkAtRest(ctx context.Context, lives []*life) {
	for _, l := range lives {
		if l.ready == holds {
			l.rest = s.writesOfCheck(ctx, l.object)
		}
	}
	s.sayf("%d objects are checked without a write", count(lives, func(l *life) bool { return l.rest == holds }))
}

// writesOfCheck has the operator check an object, and returns holds when it wrote nothing to AWS, else the operations.
func (s *stage) writesOfCheck(ctx context.Context, o *unstructured.Unstructured) string {
	mark := s.counter.mark()
	checked, err := s.check(ctx, o)
	if err != nil {
		return err.Error()
	}
	writes, calls := s.writesOf(o.GetKind(), mark), s.counter.ofTypeSince(mark, typeNameOf(o))
	switch {
	case o.GetKind() == anyKind && checked && len(calls) != 1:
		return "not one read at rest: " + strings.Join(calls, ", ")
	case o.GetKind() != anyKind && len(writes) > 0:
		return "writes at rest: " + strings.Join(writes, ", ")
	case !checked:
		_, words := condition(o, "Ready")
		return "not checked: " + words
	default:
		return holds
	}
}

// check asks for a check of an object, and reports whether the operator has made it.
func (s *stage) check(ctx context.Context, o *unstructured.Unstructured) (checked bool, err error) {
	request := time.Now().UTC().Format(time.RFC3339Nano)
	if err := s.client.Patch(ctx, o, annotated(wellknown.AnnotationReconcileAt, request)); err != nil {
		return false, err
	}
	return until(ctx, untilChecked, func() bool {
		_ = s.client.Get(ctx, client.ObjectKeyFromObject(o), o) // a failure is that the check is not seen
		handled, _, _ := unstructured.NestedString(o.Object, "status", "lastHandledReconcileAt")
		return handled == request
	}), nil
}

// annotated returns a patch that sets an annotation.
func annotated(name, value string) client.Patch {
	return client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata": {"annotations": {%q: %q}}}`, name, value))
}

// editAll changes an object of each kind, and every one of any type, waits until AWS has the change, and checks that nothing is written
// afterwards.
func (s *stage) editAll(ctx context.Context, lives []*life) {
	edited := s.changeTypes(ctx, lives)
	for _, l := range lives {
		kind := l.object.GetKind()
		if edits[kind] == "" || edited[kind] || l.rest == "" {
			continue
		}
		edited[kind] = true
		l.edit = s.editOne(ctx, l.object, patchOfSpec(edits[kind]))
	}
	s.sayf("%d of %d edits reached AWS", count(lives, func(l *life) bool { return l.edit == holds }), len(edited))
}

func (s *stage) editOne(ctx context.Context, o *unstructured.Unstructured, edit client.Patch) string {
	mark := s.counter.mark()
	if err := s.client.Patch(ctx, o, edit); err != nil {
		return err.Error()
	}
	said := ""
	if !until(ctx, untilEdited, func() bool { said = s.readiness(ctx, o); return said == holds }) {
		return said
	}
	if len(s.counter.writesSince(mark)) == 0 {
		return "nothing was written"
	}
	return s.writesOfCheck(ctx, o)
}

// deleteAll deletes every object at once, and providers afterwards, which wait for those that need them. It notes what keeps those
// that stay.
func (s *stage) deleteAll(ctx context.Context, lives []*life) error {
	quiet := untilQuiet
	for _, provider := range []bool{false, true} {
		part := slices.DeleteFunc(slices.Clone(lives), func(l *life) bool { return (l.object.GetKind() == "AWSProvider") != provider })
		for _, l := range part {
			if err := s.delete(ctx, l.object); err != nil {
				return err
			}
		}
		s.awaitPhase(ctx, quiet, part, func(l *life) string {
			l.gone = s.departure(ctx, l.object)
			return l.gone
		})
		if count(part, func(l *life) bool { return l.gone == holds }) < len(part) {
			quiet = 10 * time.Second // the provider stays, too
		}
	}
	s.sayf("%d of %d objects are gone", count(lives, func(l *life) bool { return l.gone == holds }), len(lives))
	return nil
}

// departure returns holds when an object is gone, else what keeps it.
func (s *stage) departure(ctx context.Context, o *unstructured.Unstructured) string {
	err := s.client.Get(ctx, client.ObjectKeyFromObject(o), o)
	switch {
	case apierrors.IsNotFound(err):
		return holds
	case err != nil:
		return err.Error()
	}
	_, words := condition(o, "Ready")
	return words
}

// delete deletes an object with what it stands for, including data.
func (s *stage) delete(ctx context.Context, o *unstructured.Unstructured) error {
	if o.GetKind() != "AWSProvider" {
		if err := s.client.Patch(ctx, o, patchOfSpec(`{"deletionPolicy": "Delete"}`)); err != nil {
			return err
		}
	}
	if o.GetKind() == anyKind { // it may hold data
		if err := s.client.Patch(ctx, o, annotated(wellknown.AnnotationDeleteData, o.GetName())); err != nil {
			return err
		}
	}
	return client.IgnoreNotFound(s.client.Delete(ctx, o))
}

// awaitPhase looks at each life until the phase holds for all, or until nothing has changed for the time of quiet.
func (s *stage) awaitPhase(ctx context.Context, quiet time.Duration, lives []*life, look func(*life) string) {
	said, changed := make([]string, len(lives)), time.Now()
	for open := len(lives); open > 0 && time.Since(changed) < quiet && ctx.Err() == nil; time.Sleep(200 * time.Millisecond) {
		open = len(lives)
		for i, l := range lives {
			if said[i] != holds {
				if words := look(l); words != said[i] {
					said[i], changed = words, time.Now()
				}
			}
			if said[i] == holds {
				open--
			}
		}
	}
}

// until calls done until it is true, which it reports, or the time is over.
func until(ctx context.Context, limit time.Duration, done func() bool) bool {
	for deadline := time.Now().Add(limit); ctx.Err() == nil; time.Sleep(200 * time.Millisecond) {
		if done() {
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
	}
	return false
}

func count(lives []*life, is func(*life) bool) int {
	n := 0
	for _, l := range lives {
		if is(l) {
			n++
		}
	}
	return n
}

// liveCapability lives a capability.
func (s *stage) liveCapability(ctx context.Context, file string) (*life, error) {
	objects, err := world.ReadManifests(file)
	if err != nil {
		return nil, err
	}
	if len(objects) != 1 {
		return nil, fmt.Errorf("%s has %d objects: name the file of one capability", file, len(objects))
	}
	before, err := s.inventory(ctx)
	if err != nil {
		return nil, err
	}
	l := &life{object: objects[0]}
	if err := s.create(ctx, l.object); err != nil {
		return nil, err
	}
	all := []*life{l}
	s.awaitReady(ctx, all)
	if l.ready == holds {
		l.rest = s.writesWhileChildrenAreChecked(ctx, l.object)
		l.edit = s.editOne(ctx, l.object, patchOfSpec(capabilityEdit))
	}
	if err := s.deleteAll(ctx, all); err != nil {
		return nil, err
	}
	return l, s.findResidue(ctx, all, before)
}

// writesWhileChildrenAreChecked has the operator check every AWS object of a capability, and returns holds when it wrote nothing.
func (s *stage) writesWhileChildrenAreChecked(ctx context.Context, capability *unstructured.Unstructured) string {
	var list unstructured.UnstructuredList
	for kind := range edits {
		list.SetAPIVersion("aws-infra-operator.runner.codes/v1alpha1")
		list.SetKind(kind + "List")
		if err := s.client.List(ctx, &list, client.InNamespace(capability.GetNamespace())); err != nil {
			return err.Error()
		}
		for i := range list.Items {
			if said := s.writesOfCheck(ctx, &list.Items[i]); said != holds {
				return kind + "/" + list.Items[i].GetName() + ": " + said
			}
		}
	}
	return holds
}
