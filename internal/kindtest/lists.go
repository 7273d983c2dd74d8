// SPDX-License-Identifier: Apache-2.0

package kindtest

import (
	"io/fs"
	"regexp"
	"strconv"
	"testing"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/config/crd"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// List is a list or a map of a spec, and an element that others add to it in AWS.
type List struct {
	// Field is its path in the spec, such as notification.queues.
	Field string
	// Object declares the field.
	Object v1alpha1.Resource
	// Edited declares another value of the field; a list that keeps the elements of others needs one.
	Edited v1alpha1.Resource
	Facts  func(s *Subject)
	// Add adds an element in AWS, and Has reports whether it is there.
	Add func(t *testing.T, r *Rig)
	Has func(t *testing.T, r *Rig) bool
	// Untagged is true for a kind that has resources without tags, so that each edit is one of the list.
	Untagged bool
	// Exact is true for a list that is documented to lose the elements of others.
	Exact bool
	// Fixed is true for a list that accepts no further element, because it is immutable or only an input, and for one that a row of the kind's
	// table tests in the same way.
	Fixed bool
}

// Patterns of descriptions that mention the elements of others.
var (
	saysExact = regexp.MustCompile(`\bexact\b|set elsewhere|not declared are removed|others add are removed|not declared is disassociated|return to the main`)
	saysStay  = regexp.MustCompile(`\bstays?\b|left\s+alone`)
)

// Lists asserts of every list and map of a kind's spec that the elements of others survive checks and edits, unless the list
// is exact by its documentation. A field that is not listed fails the test.
func Lists(t *testing.T, e engine.Entry, lists ...List) {
	t.Helper()
	described := describedLists(t, e.Name())
	for _, l := range lists {
		text, ok := described[l.Field]
		delete(described, l.Field)
		switch {
		case !ok:
			t.Errorf("%s is no list of the spec", l.Field)
		case !l.Fixed && l.Exact != saysExact.MatchString(text) || !l.Fixed && !l.Exact && !saysStay.MatchString(text):
			t.Errorf("%s: exact is %t, and the documentation says: %s", l.Field, l.Exact, text)
		}
		switch {
		case l.Fixed:
		case l.Exact:
			t.Run(l.Field, func(t *testing.T) { l.isRestored(t, e) })
		case l.Edited == nil:
			t.Errorf("%s: the elements of others stay, and no other value is declared beside them", l.Field)
		default:
			t.Run(l.Field, func(t *testing.T) { l.survives(t, e) })
		}
	}
	for field := range described {
		t.Errorf("say of %s whether the elements of others stay", field)
	}
}

// roundsOfEveryRun and roundsOfAll are how many checks and edits an element of another owner survives in every run, and in a full one.
const (
	roundsOfEveryRun = 5
	roundsOfAll      = 100
)

// added makes the object, and then the element of another owner.
func (l List) added(t *testing.T, e engine.Entry) *Subject {
	t.Helper()
	s := NewSubject(NewRig(t), e, l.Object)
	if l.Facts != nil {
		l.Facts(s)
	}
	Settled(t, s)
	l.Add(t, s.Rig)
	if !l.Has(t, s.Rig) {
		t.Fatal("the element was not added")
	}
	return s
}

// tagged returns an object with a tag of that value.
func tagged(o v1alpha1.Resource, value int) v1alpha1.Resource {
	out := o.DeepCopyObject().(v1alpha1.Resource)
	out.CommonSpec().Tags = map[string]v1alpha1.TagValue{"edited": v1alpha1.TagValue(strconv.Itoa(value))}
	return out
}

// survives checks the object by an operator that was restarted, and edits its tags and the list in turn. After each of both, the
// element is there.
func (l List) survives(t *testing.T, e engine.Entry) {
	s := l.added(t, e)
	declared, other, tag := l.Object, l.Edited, 0
	for round := range extent.Size(t, roundsOfEveryRun, roundsOfAll) {
		s.Forget()
		Settled(t, s)
		if !l.Has(t, s.Rig) {
			t.Fatalf("check %d: the element of somebody else is gone\n%s", round, s.Rig.AWS.Calls())
		}
		if round%2 == 0 && !l.Untagged {
			tag = round
		} else {
			declared, other = other, declared
		}
		mark := s.Rig.AWS.Mark()
		s.Edit(tagged(declared, tag))
		Settled(t, s)
		if len(s.Rig.AWS.Since(mark).Writes()) == 0 {
			t.Fatalf("edit %d changed nothing in AWS", round)
		}
		if !l.Has(t, s.Rig) {
			t.Fatalf("edit %d: the element of somebody else is gone\n%s", round, s.Rig.AWS.Since(mark))
		}
	}
}

// isRestored checks and edits the object of an exact list: the element goes.
func (l List) isRestored(t *testing.T, e engine.Entry) {
	s := l.added(t, e)
	s.Forget()
	Settled(t, s)
	s.Edit(tagged(l.Object, 1))
	Settled(t, s)
	if l.Has(t, s.Rig) {
		t.Errorf("the element of somebody else is there, and the list is exact\n%s", s.Rig.AWS.Calls())
	}
}

// describedLists returns the descriptions of the lists and maps of a kind's spec, but those inside of lists and the tags.
func describedLists(t *testing.T, kindName string) map[string]string {
	t.Helper()
	files, err := fs.Glob(crd.Bases, "*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, file := range files {
		text, err := fs.ReadFile(crd.Bases, file)
		if err != nil {
			t.Fatal(err)
		}
		var definition apiextensions.CustomResourceDefinition
		if err := yaml.Unmarshal(text, &definition); err != nil {
			t.Fatal(err)
		}
		if definition.Spec.Names.Kind == kindName {
			collectLists("", definition.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"], out)
		}
	}
	delete(out, "tags")
	return out
}

func collectLists(path string, in apiextensions.JSONSchemaProps, out map[string]string) {
	for name, p := range in.Properties {
		if p.Type == "array" || p.AdditionalProperties != nil {
			out[path+name] = p.Description
		} else {
			collectLists(path+name+".", p, out)
		}
	}
}
