// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	_ "embed"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/importer"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/testkit/awstypes"
)

// typesNotAdopted lists the types that are only observed, or not imported, a line each with the reason.
//
//go:embed testdata/types-not-adopted.txt
var typesNotAdopted string

// typesNotTakenOver lists the types that are not adopted by a declaration, a line each with the reason.
//
//go:embed testdata/types-not-taken-over.txt
var typesNotTakenOver string

// imported exports the one resource of the type as `nexusctl import` does: the object adopts it, or observes it.
func (l *anyLife) imported(t *testing.T, adopts bool) *kindtest.Subject {
	t.Helper()
	o := &v1alpha1.AWSResource{}
	o.Name, o.UID = "imported", "import"
	o.Spec.TypeName, o.Spec.ImportID = l.schema.Name, l.double.Identifiers(l.schema.Name)[0]
	o.Spec.ManagementPolicy, o.Spec.DeletionPolicy = v1alpha1.ManageObserve, v1alpha1.DeletionRetain
	if adopts {
		o.Spec.ManagementPolicy, o.Spec.AdoptionPolicy = "", v1alpha1.AdoptAlways
	}
	s := kindtest.NewSubject(l.Rig, entry, o)
	s.AllowAdoption = true
	found, err := importer.ExportOf(t.Context(), entry, entry.Bind(l.Rig.Config), s.Scope(), s.Object)
	if err != nil || !found.Exists {
		t.Fatalf("exporting: %v, exists %t\n%s", err, found.Exists, l.Rig.AWS.Calls())
	}
	return s
}

// whyNotObserved imports the one resource of the type by an object that observes it; empty where it finds no difference.
func (l *anyLife) whyNotObserved(t *testing.T) string {
	t.Helper()
	mark := l.Rig.AWS.Mark()
	p, err := l.imported(t, false).Decide(t.Context())
	if w := l.Rig.AWS.Since(mark).Writes(); len(w) > 0 {
		t.Errorf("the import wrote to AWS:\n%s", w)
	}
	if err != nil || p.Cause != engine.InSync || len(p.Diff) > 0 {
		return fmt.Sprintf("observing: %v, %s %+v", err, p.Cause, p.Diff)
	}
	return ""
}

// whyNotAdopted imports the one resource of the type by an object that manages it from then on; empty where only the tags of the owner
// are written.
func (l *anyLife) whyNotAdopted(t *testing.T) string {
	t.Helper()
	s := l.imported(t, true)
	p, err := s.Decide(t.Context())
	p.Diff = slices.DeleteFunc(p.Diff, kind.Change.MarksOwner)
	if isTagged := l.schema.Tags.Property() != "" && !l.schema.Tags.AreFixed(); err != nil || len(p.Diff) > 0 || p.Writes() != isTagged {
		return fmt.Sprintf("the plan of an adoption: %v, %s %+v, writes %t", err, p.Cause, p.Diff, p.Writes())
	}
	if _, err := s.Settle(t.Context(), nil); err != nil || s.Object.CommonStatus().Ownership != v1alpha1.OwnershipOwned {
		return fmt.Sprintf("adopting: %v, %+v\n%s", err, s.Object.CommonStatus(), l.Rig.AWS.Calls())
	}
	return ""
}

// whyNotTakenOver adopts the one resource of the type by an object that declares the same as the create; empty if it only writes the tags
// of the owner, and properties that AWS never shows and that may be changed.
func (l *anyLife) whyNotTakenOver(t *testing.T) string {
	t.Helper()
	o := l.object(l.properties)
	o.Name, o.UID = "successor", "successor"
	o.Spec.ImportID, o.Spec.AdoptionPolicy, o.Spec.DeletionPolicy = l.double.Identifiers(l.schema.Name)[0], v1alpha1.AdoptAlways,
		v1alpha1.DeletionRetain
	s := kindtest.NewSubject(l.Rig, entry, o)
	s.AllowAdoption = true
	if _, err := s.Settle(t.Context(), nil); err != nil || s.Object.CommonStatus().Ownership != v1alpha1.OwnershipOwned {
		return fmt.Sprintf("taking over: %v, %+v\n%s", err, s.Object.CommonStatus(), l.Rig.AWS.Calls())
	}
	mark := l.Rig.AWS.Mark()
	if p, err := s.Decide(t.Context()); err != nil || p.Cause != engine.InSync {
		return fmt.Sprintf("after it was taken over: %v, %s %+v\n%s", err, p.Cause, p.Diff, l.Rig.AWS.Since(mark))
	}
	return ""
}

// An object takes over its resource if that exists already, as after an undo or in a restored cluster: a property that AWS never shows and
// does not let be changed is no difference. 41 types of the sample are taken over, and all of them in full runs.
func TestTypes_AreTakenOverByTheirDeclaration(t *testing.T) {
	eachType(t, 5, allOfSample, func(t *testing.T, types *awstypes.Types, l *anyLife, _ int) {
		l.place(t, types, l.properties)
		existing(t, l.Rig, l.schema.Name, string(l.object(l.properties).Spec.Properties.Raw))
		if why, listed := l.whyNotTakenOver(t), reasonIn(typesNotTakenOver, l.schema.Name); (listed == "") != (why == "") {
			t.Errorf("%s, the list says %q", why, listed)
		}
	})
}

// An existing resource is declared as AWS shows it: the object that observes it finds no difference, and the one that adopts it writes its
// tags alone. 41 types of the sample are imported, and all of them in full runs.
func TestTypes_AreImportedWithAnEmptyPlan(t *testing.T) {
	eachType(t, 5, allOfSample, func(t *testing.T, types *awstypes.Types, l *anyLife, _ int) {
		name := l.schema.Name
		text := string(l.object(l.properties).Spec.Properties.Raw)
		l.place(t, types, l.properties)
		existing(t, l.Rig, name, text)
		listed := reasonIn(typesNotAdopted, name)
		mayObserve := listed == "" || strings.HasPrefix(listed, "only observed: ")
		if why := l.whyNotObserved(t); mayObserve != (why == "") {
			t.Errorf("%s, the list says %q\n%s", why, listed, text)
		}
		if why := l.whyNotAdopted(t); (listed == "") != (why == "") {
			t.Errorf("%s, the list says %q\n%s", why, listed, text)
		}
	})
}

// documented has the words of docs/any-type.md for each reason of the list.
var documented = map[string]string{
	"only observed: a required property is never shown":                              "a required property that AWS never shows, also in one of several forms (%d types",
	"only observed: it acts as a role that AWS shows and its provider does not pass": "a role that AWS shows and the provider does not pass, in the tests (%d types)",
	"not imported: the identifier that the tests generate has a *":                   "an identifier with a `*`, in the tests (%d types)",
}

// The page counts the types of the list, and all of them add up.
func TestTypesNotAdopted_AreCountedInTheDocs(t *testing.T) {
	text, err := os.ReadFile("../../../docs/any-type.md")
	kindtest.Must(t, err)
	page, of := string(text), map[string]int{}
	observed, left := 0, 0
	for line := range strings.Lines(typesNotAdopted) {
		_, why, _ := strings.Cut(strings.TrimSpace(line), ": ")
		of[why]++
		if strings.HasPrefix(why, "only observed: ") {
			observed++
		} else {
			left++
		}
	}
	for why, n := range of {
		if words := documented[why]; words == "" || !strings.Contains(page, fmt.Sprintf(words, n)) {
			t.Errorf("docs/any-type.md does not say %q", fmt.Sprintf(documented[why], n)+" of: "+why)
		}
	}
	sentence := regexp.MustCompile(`Of the ([0-9,]+) types, ([0-9,]+) are imported and adopted in the tests with tags of the owner alone, ([0-9,]+) are imported and can only be observed, and ([0-9,]+) are not imported`).FindStringSubmatch(page)
	if sentence == nil {
		t.Fatal("docs/any-type.md does not count the types that are imported")
	}
	var numbers [4]int
	for i := range numbers {
		numbers[i], err = strconv.Atoi(strings.ReplaceAll(sentence[i+1], ",", ""))
		kindtest.Must(t, err)
	}
	if numbers[2] != observed || numbers[3] != left || numbers[1]+observed+left != numbers[0] {
		t.Errorf("docs/any-type.md has %v, and the list %d types that are only observed and %d that are not imported", numbers, observed, left)
	}
}
