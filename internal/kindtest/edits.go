// SPDX-License-Identifier: Apache-2.0

package kindtest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// A walk is a life of random edits. NEXUS_WALKS, NEXUS_SEED and a full run (package extent) choose other ones than those of every run.
const (
	walksOfEveryRun = 1
	walksOfAll      = 25
	editsOfAWalk    = 8
	editsInSample   = 4
	// fewestToMix sets how many objects rows must declare under the same facts, to be mixed.
	fewestToMix = 4
)

// walks edits an object at random: each edit takes every field of the spec from one of the rows. Whatever comes of it, the
// plan names exactly the calls that AWS then receives, an edit that is refused writes nothing, and the life ends.
func walks(t *testing.T, e engine.Entry, pools []*pool) {
	t.Helper()
	number, first := numberOf("NEXUS_WALKS", extent.Size(t, walksOfEveryRun, walksOfAll)), numberOf("NEXUS_SEED", 1)
	for i, p := range pools {
		for seed := first; seed < first+number; seed++ {
			t.Run(fmt.Sprintf("random edits/of rows %d/seed-%d", i, seed), func(t *testing.T) {
				w := &walk{T: t, rnd: rand.New(rand.NewPCG(uint64(seed), 0)), pool: p.objects}
				w.Subject = p.limited(t, e, p.objects[w.rnd.IntN(len(p.objects))])
				w.life()
			})
		}
	}
}

// valuesOfEveryRun and valuesOfAll are how many values of a field a ladder climbs in every run, and in a full one. In the sample, ladders
// exist for a few fields.
const (
	valuesOfEveryRun = 2
	valuesOfAll      = 6
	fieldsOfSample   = 2
)

// ladders take one field after the other through its values in the rows: off, on, changed, changed back, off, and on again. No row shows a
// refusal by AWS in only one direction, and random edits show it by chance.
func ladders(t *testing.T, e engine.Entry, pools []*pool) {
	t.Helper()
	most := extent.Size(t, valuesOfEveryRun, valuesOfAll)
	for i, p := range pools {
		t.Run(fmt.Sprintf("each field on, changed and off/of rows %d", i), func(t *testing.T) {
			w := &walk{T: t, pool: p.objects}
			w.Subject = p.limited(t, e, p.objects[0])
			w.follow()
			for _, field := range extent.Sample(t, p.changeable(), fieldsOfSample) {
				for _, v := range p.valuesOf(field, most) {
					w.step(field, v)
				}
			}
		})
	}
}

// changeable returns the fields with values in the rows that an edit can change.
func (p pool) changeable() (fields []int) {
	for field := range specOf(p.objects[0]).NumField() {
		if len(p.valuesOf(field, 1)) > 0 {
			fields = append(fields, field)
		}
	}
	return fields
}

// valuesOf returns values of a field that rows declare, forth and back, then its zero value and the first again; none of a field that
// identifies the resource.
func (p pool) valuesOf(field, most int) []reflect.Value {
	first := specOf(p.objects[0])
	if first.Type().Field(field).Name == "CommonSpec" || !first.Field(field).IsZero() && !isOptional(first.Type().Field(field)) {
		return nil
	}
	var out []reflect.Value
	for _, o := range p.objects {
		v := specOf(o).Field(field)
		if !v.IsZero() && len(out) < most &&
			!slices.ContainsFunc(out, func(w reflect.Value) bool { return reflect.DeepEqual(v.Interface(), w.Interface()) }) {
			out = append(out, v)
		}
	}
	if len(out) == 0 {
		return nil
	}
	back := slices.Clone(out[:len(out)-1])
	slices.Reverse(back)
	return append(append(out, back...), reflect.Zero(out[0].Type()), out[0])
}

// twoValues asserts that the rows declare each optional field with two values at least, so that ladders and walks change it and not only
// turn it on and off. Rows that are refused count: a field that AWS does not change has no others.
func twoValues(t *testing.T, e engine.Entry, cases []Case) {
	t.Helper()
	spec := specOf(e.New()).Type()
	for field := range spec.NumField() {
		f := spec.Field(field)
		if f.Name == "CommonSpec" || !isOptional(f) || f.Type.Kind() == reflect.Bool {
			continue
		}
		n, name := declaredValues(t, field, cases), e.Name()+"."+f.Name
		switch why := oneValue(e, f.Name); {
		case n < 2 && why == "":
			t.Errorf("the rows declare %s with %d values: none changes it", name, n)
		case n >= 2 && why != "":
			t.Errorf("the reason in the facts about %s is about nothing", name)
		}
	}
}

// oneValue returns why rows declare a field with one value; "" where they do not.
func oneValue(e engine.Entry, field string) string {
	for fields, why := range e.Meta().Facts.OneValue {
		if slices.Contains(strings.Fields(fields), field) {
			return why
		}
	}
	return ""
}

// declaredValues returns how many values of a field the rows declare.
func declaredValues(t *testing.T, field int, cases []Case) int {
	t.Helper()
	values := map[string]bool{}
	for _, c := range cases {
		for _, o := range []v1alpha1.Resource{c.Existing, c.Object} {
			if o == nil || specOf(o).Field(field).IsZero() {
				continue
			}
			text, err := json.Marshal(specOf(o).Field(field).Interface())
			if err != nil {
				t.Fatal(err)
			}
			values[string(text)] = true
		}
	}
	return len(values)
}

func isOptional(f reflect.StructField) bool { return strings.Contains(f.Tag.Get("json"), ",omitempty") }

// step edits one field, and takes the edit back where it is refused.
func (w *walk) step(field int, v reflect.Value) {
	w.Helper()
	before := w.Object
	next := before.DeepCopyObject().(v1alpha1.Resource)
	specOf(next).Field(field).Set(v)
	w.Edit(next)
	if !w.follow() {
		w.Edit(before)
		w.follow()
	}
}

func numberOf(name string, otherwise int) int {
	n, err := strconv.Atoi(os.Getenv(name))
	if err != nil {
		return otherwise
	}
	return n
}

// pool are objects that rows declare under the same facts.
type pool struct {
	parents func(t *testing.T, s *Subject)
	facts   func(s *Subject)
	objects []v1alpha1.Resource
	forms   *forms
}

// subject stores an object in an empty AWS that has its parents.
func (p pool) subject(t *testing.T, e engine.Entry, o v1alpha1.Resource) *Subject {
	t.Helper()
	s := NewSubject(NewRig(t), e, o)
	p.parents(t, s)
	if p.facts != nil {
		p.facts(s)
	}
	return s
}

// limited is subject with the rights that the policies for the kind print, and with members in AWS's answers that no SDK knows.
func (p pool) limited(t *testing.T, e engine.Entry, o v1alpha1.Resource) *Subject {
	t.Helper()
	s := p.subject(t, e, o)
	s.forms = p.forms
	s.limit(t, newRights(e)) // those that a row needs are counted by the rows
	s.Rig.AWS.SetLag(emulator.Lag{UnknownFields: true})
	return s
}

// poolsOf returns the objects of the rows that need no preparation of AWS but their facts.
func poolsOf(cases []Case, parents func(t *testing.T, s *Subject), forms *forms) (out []*pool) {
	by := map[uintptr]*pool{}
	for _, c := range cases {
		if c.Before != nil || c.Stalled+c.Waiting != "" || c.Deleting || c.PlanOnly {
			continue
		}
		key := reflect.ValueOf(c.Facts).Pointer()
		if by[key] == nil {
			by[key] = &pool{parents: parents, facts: c.Facts, forms: forms}
			out = append(out, by[key])
		}
		for _, o := range []v1alpha1.Resource{c.Existing, c.Object} {
			if o != nil {
				by[key].objects = append(by[key].objects, o)
			}
		}
	}
	return slices.DeleteFunc(out, func(p *pool) bool { return len(p.objects) < fewestToMix })
}

type walk struct {
	*testing.T
	*Subject
	rnd  *rand.Rand
	pool []v1alpha1.Resource
	log  []string
}

func (w *walk) life() {
	w.Helper()
	w.follow()
	for range extent.Size(w.T, editsInSample, editsOfAWalk) {
		before := w.Object
		if w.rnd.IntN(3) == 0 { // an edit of the provider
			w.DefaultTags = map[string]string{"team": strconv.Itoa(w.rnd.IntN(3))}
		}
		w.Edit(w.draw())
		if !w.follow() {
			w.Edit(before)
			w.follow()
		}
	}
	w.Deleting = true
	w.Object.CommonSpec().DeletionPolicy = v1alpha1.DeletionDelete
	mark := w.Rig.AWS.Mark()
	if out, err := w.Settle(w.Context(), nil); !out.Gone && !(isHeld(err) && len(acceptedSince(w.Rig, mark)) == 0) {
		w.Fatalf("delete does not end: %v\n%s", awsErr(err), w.told())
	}
}

// isHeld reports whether the spec keeps the resource from being deleted, such as by its deletion protection.
func isHeld(err error) bool {
	waiting, ok := status.AsWaiting(err)
	return ok && waiting.Reason == status.ReasonDeletionProtected
}

// draw makes an edit of the object: each field of its spec is as it is, or as in one of the rows.
func (w *walk) draw() v1alpha1.Resource {
	next := w.Object.DeepCopyObject().(v1alpha1.Resource)
	other := w.pool[w.rnd.IntN(len(w.pool))].DeepCopyObject().(v1alpha1.Resource)
	to, from := specOf(next), specOf(other)
	for i := range to.NumField() {
		if to.Type().Field(i).Name != "CommonSpec" && w.rnd.IntN(2) == 0 {
			to.Field(i).Set(from.Field(i))
		}
	}
	if w.rnd.IntN(2) == 0 {
		next.CommonSpec().Tags = other.CommonSpec().Tags
	}
	return next
}

func specOf(o v1alpha1.Resource) reflect.Value { return reflect.ValueOf(o).Elem().FieldByName("Spec") }

// follow plans, has the engine do it, and compares. It reports whether the edit was accepted.
func (w *walk) follow() bool {
	w.Helper()
	mark := w.Rig.AWS.Mark()
	spec, err := json.Marshal(specOf(w.Object).Interface())
	if err != nil {
		w.Fatal(err)
	}
	w.log = append(w.log, string(spec))
	p, refusal := w.Decide(w.Context())
	_, isStalled := status.AsStalled(refusal)
	if refusal != nil && !isStalled {
		w.Fatalf("deciding: %v\n%s", awsErr(refusal), w.told())
	}
	_, err = w.Settle(w.Context(), nil)
	sent := acceptedSince(w.Rig, mark)
	if _, refused := status.AsStalled(err); refused || isStalled {
		if !refused || !isStalled || len(sent) > 0 {
			w.Fatalf("the plan says %v, the operator %v, and AWS received %q\n%s", refusal, err, sent, w.told())
		}
		return false
	}
	if err != nil {
		w.Fatalf("settling: %v\n%s\n%s", awsErr(err), w.Rig.AWS.Since(mark), w.told())
	}
	if named := actionsOf(p); !slices.Equal(named, sent) {
		w.Fatalf("the plan named %q, and the calls were %q; it is of %s: %+v\n%s\n%s", named, sent, p.Cause, p.Diff, w.Rig.AWS.Since(mark),
			w.told())
	}
	quiet(w.T, w.Subject)
	return true
}

// told returns the specs so far.
func (w *walk) told() string { return "specs, one after the other:\n" + strings.Join(w.log, "\n") }

// actionsOf returns the actions that a plan names, in alphabetical order.
func actionsOf(p engine.Plan) []string {
	var out []string
	for _, s := range slices.Concat(p.Steps, p.Later) {
		out = append(out, s.Action)
	}
	slices.Sort(out)
	return out
}

// acceptedSince returns the actions of the writes that AWS accepted, in alphabetical order.
func acceptedSince(r *Rig, mark emulator.Mark) []string {
	var out []string
	for _, w := range r.AWS.Since(mark).Writes() {
		if w.Status < 300 {
			out = append(out, w.Action())
		}
	}
	slices.Sort(out)
	return out
}
