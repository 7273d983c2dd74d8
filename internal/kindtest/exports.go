// SPDX-License-Identifier: Apache-2.0

package kindtest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/answers"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/importer"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// exports creates the resource of each row and declares it again from AWS alone. Another look at AWS with the exported spec plans no
// change, and in an empty AWS it creates the resource of the row.
func exports(t *testing.T, e engine.Entry, pools []*pool) {
	t.Helper()
	if len(e.ExportIdentity()) == 0 {
		return
	}
	for i, p := range pools {
		distinct := p.distinct(t)
		if i == 0 {
			t.Run("export/knows what no field can say", func(t *testing.T) { undeclarable(t, p.subject(t, e, p.objects[0])) })
		}
		chosen := distinct
		if !extent.IsFull(t) {
			chosen = extent.Sample(t, p.cover(distinct), exportsOfSample)
		}
		for n, j := range chosen {
			t.Run(fmt.Sprintf("export/of rows %d/%d", i, j), func(t *testing.T) {
				s := p.subject(t, e, p.objects[j])
				s.comparesAnswers = n < extent.Size(t, 4, len(chosen))
				exported(t, *p, s)
			})
		}
	}
}

// exportsOfSample limits the rows of a pool that the sample exports.
const exportsOfSample = 3

// distinct are the places of the objects of a pool, without those that have the spec of an earlier one.
func (p pool) distinct(t *testing.T) (places []int) {
	t.Helper()
	seen := map[string]bool{}
	for j, o := range p.objects {
		spec, err := json.Marshal(specOf(o).Interface())
		if err != nil {
			t.Fatal(err)
		}
		if !seen[string(spec)] {
			places = append(places, j)
		}
		seen[string(spec)] = true
	}
	return places
}

// cover returns a subset of some places: its objects have together all traits of the objects in those places.
func (p pool) cover(places []int) (chosen []int) {
	specs := make([]reflect.Value, len(places))
	for n, j := range places {
		specs[n] = specOf(p.objects[j])
	}
	for _, n := range cover(specs) {
		chosen = append(chosen, places[n])
	}
	return chosen
}

func exported(t *testing.T, of pool, s *Subject) {
	ctx, row := t.Context(), s.Object.DeepCopyObject().(v1alpha1.Resource)
	mark := s.Rig.AWS.Mark()
	if _, err := s.Settle(ctx, nil); err != nil {
		t.Fatalf("making it: %v", awsErr(err))
	}
	if len(s.Rig.AWS.Since(mark).Writes()) == 0 { // a set of nothing
		return
	}
	copied := s.likeness(t)
	mark = s.Rig.AWS.Mark()
	found, err := importer.ExportOf(ctx, s.Entry, s.Entry.Bind(answers.Instrument(s.Rig.Config)), copied.Scope(), copied.Object)
	if err != nil || !found.Exists {
		t.Fatalf("exporting: %v, exists %t", awsErr(err), found.Exists)
	}
	empty := slices.DeleteFunc(emptyIn(s.Entry.Name()+".spec", decoded(t, copied.Object)),
		func(path string) bool { return exportedEmpty[path] })
	if len(empty) > 0 {
		t.Errorf("the export declares as empty what AWS has none of, so that what others add later would be removed: %q\n%s", empty,
			textOf(t, copied.Object))
	}
	saysEverything(t, s, found)
	p, err := copied.Decide(ctx)
	if err != nil || p.Cause != engine.InSync || len(p.Diff) > 0 {
		t.Errorf("after the export: %v, %s %+v\nmade     %s\nexported %s", awsErr(err), p.Cause, p.Diff, textOf(t, s.Object),
			textOf(t, copied.Object))
	}
	if w := s.Rig.AWS.Since(mark).Writes(); len(w) > 0 {
		t.Errorf("the export wrote to AWS:\n%s", w)
	}
	if len(found.Omitted) > 0 { // an import cannot create the omitted parts again
		return
	}
	again := of.subject(t, s.Entry, row)
	again.Trusted = true
	again.Edit(again.moved(t, s, unbound(t, copied.Object)))
	if _, err := again.Settle(ctx, nil); err != nil {
		t.Fatalf("making it from the export: %v\n%s", awsErr(err), textOf(t, copied.Object))
	}
	row.CommonSpec().ManagementPolicy = v1alpha1.ManageObserve
	again.Edit(row)
	p, err = again.Decide(ctx)
	// An object that only observes does not want the mark of an owner.
	if p.Diff = slices.DeleteFunc(p.Diff, kind.Change.MarksOwner); err != nil || len(p.Diff) > 0 {
		t.Errorf("what the export makes is not what was declared: %v, %+v\nmade     %s\nexported %s", awsErr(err), p.Diff, textOf(t, row),
			textOf(t, copied.Object))
	}
}

// moved returns an object that refers to the parents of one subject by the identifiers that they have here.
func (s *Subject) moved(t *testing.T, from *Subject, o v1alpha1.Resource) v1alpha1.Resource {
	t.Helper()
	text := textOf(t, o)
	for name, target := range from.Targets {
		if target.ID != "" {
			text = strings.ReplaceAll(text, target.ID, s.Targets[name].ID)
		}
		if target.ARN != "" {
			text = strings.ReplaceAll(text, target.ARN, s.Targets[name].ARN)
		}
	}
	out := o.DeepCopyObject().(v1alpha1.Resource)
	specOf(out).SetZero()
	if err := json.Unmarshal([]byte(text), specOf(out).Addr().Interface()); err != nil {
		t.Fatal(err)
	}
	return out
}

// unbound is an exported object that makes another resource.
func unbound(t *testing.T, o v1alpha1.Resource) v1alpha1.Resource {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		t.Fatal(err)
	}
	spec := content["spec"].(map[string]any)
	delete(spec, "importID")
	delete(spec, "managementPolicy")
	out := o.DeepCopyObject().(v1alpha1.Resource)
	specOf(out).SetZero()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(map[string]any{"spec": spec}, out); err != nil {
		t.Fatal(err)
	}
	return out
}

// likeness is another object that knows only the identifiers of the resource, and only observes it.
func (s *Subject) likeness(t *testing.T) *Subject {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(s.Object)
	if err != nil {
		t.Fatal(err)
	}
	spec, identity := content["spec"].(map[string]any), map[string]any{}
	for _, field := range s.Entry.ExportIdentity() {
		field = strings.TrimSuffix(field, kind.OptionalIdentity)
		identity[field] = spec[field]
		if field == "importID" {
			identity[field] = s.Object.CommonStatus().ID
		}
	}
	o := s.Entry.New()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(map[string]any{"spec": identity}, o); err != nil {
		t.Fatal(err)
	}
	o.SetName(s.Object.GetName())
	o.SetUID("likeness")
	o.CommonSpec().ManagementPolicy = v1alpha1.ManageObserve
	copied := NewSubject(s.Rig, s.Entry, o)
	copied.Targets, copied.Secrets, copied.Trusted = s.Targets, s.Secrets, true
	copied.Boundary, copied.RolePath, copied.AllowAdoption = s.Boundary, s.RolePath, true
	return copied
}

func textOf(t *testing.T, o v1alpha1.Resource) string {
	t.Helper()
	b, err := json.Marshal(specOf(o).Interface())
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// exportedEmpty are settings that a person made and that look empty in a spec.
var exportedEmpty = map[string]bool{
	"S3Bucket.spec.publicAccessBlock": true, // all switches are off, where no configuration is another state
	"SecurityGroup.spec.egressRules":  true, // a new group lets all out, so that none is a setting
}

// decoded returns the spec as JSON has it.
func decoded(t *testing.T, o v1alpha1.Resource) (out any) {
	t.Helper()
	if err := json.Unmarshal([]byte(textOf(t, o)), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// emptyIn returns the paths of empty texts, lists and objects.
func emptyIn(path string, v any) (out []string) {
	switch v := v.(type) {
	case string:
		if v == "" {
			out = append(out, path)
		}
	case []any:
		for i, e := range v {
			out = append(out, emptyIn(fmt.Sprintf("%s[%d]", path, i), e)...)
		}
		if len(v) == 0 {
			out = append(out, path)
		}
	case map[string]any:
		for _, key := range kind.SortedKeys(v) {
			if key == "tags" { // their values may be empty
				continue
			}
			out = append(out, emptyIn(path+"."+key, v[key])...)
		}
		if len(v) == 0 {
			out = append(out, path)
		}
	}
	return out
}
