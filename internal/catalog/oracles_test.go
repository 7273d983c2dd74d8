// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/smithy-go"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/testkit/awsmodels"
	"github.com/nexus-operator/nexus-operator/internal/testkit/golden"
)

const oraclesHead = `# What AWS's own data is compared with

Generated: ` + "`NEXUS_UPDATE=1 go test -run TestOracles ./internal/catalog`" + ` writes it anew, and a test compares it. The tests that do the
comparisons are in [testing.md](testing.md#what-aws-publishes). Sources, with the days on which the tables were made of them: %s.

`

// The page lists the subjects of the oracles, so that a kind, a call or a field without one shows in a review.
func TestOracles_AreListedByKind(t *testing.T) {
	models, err := awsmodels.Read()
	if err != nil {
		t.Fatal(err)
	}
	reference, err := awsmodels.ReadReference()
	if err != nil {
		t.Fatal(err)
	}
	var page strings.Builder
	fmt.Fprintf(&page, oraclesHead, sourcesOf(t, models, reference))
	page.WriteString("## Calls\n\nEach life of a kind has the printed policies alone. What a request takes is derived from AWS's reference: the resources that it\n" +
		"requires, the actions that depend on it, and the right to tag where it gives tags.\n\n" +
		"| kind | actions | required resources | dependent actions | actions that take tags |\n|---|---|---:|---:|---:|\n")
	for _, e := range Kinds() {
		page.WriteString(callsOf(e, reference))
	}
	page.WriteString("\n## Partitions\n\nIn `aws` and, in full runs, in another partition every row of a kind has the printed policies alone, and each right in them is used.\n" +
		"In each partition, a resource is created, edited, adopted and deleted with them. The policies of the partitions differ in names only,\n" +
		"which `TestOperator_PoliciesOfPartitionsDifferInNamesOnly` compares. The emulator has not all services in all partitions; full runs\n" +
		"show that it still lacks each of these.\n\n| kind | lives in | the emulator lacks |\n|---|---|---|\n")
	for _, e := range Kinds() {
		page.WriteString(partitionsOf(e))
	}
	page.WriteString("\n## Errors\n\nEvery error that the service models name has a row of the table of errors, and so a class.\n\n" +
		"| kind | operations | errors | classes |\n|---|---:|---:|---|\n")
	for _, e := range Kinds() {
		page.WriteString(errorsOf(t, e, models))
	}
	page.WriteString("\n## Fields\n\nEvery value of every field that a row declares is decided again with each form of the answers. Rewrites are fields that AWS answers with in\n" +
		"another form than it was sent.\n\n| kind | fields | lists and maps | rewrites |\n|---|---:|---:|---|\n")
	for _, e := range Kinds() {
		page.WriteString(formsOf(e))
	}
	page.WriteString(recordsOf(t))
	golden.Check(t, "../../../docs/oracles.md", page.String())
}

// recordsOf is the section on the records of users.
func recordsOf(t *testing.T) string {
	t.Helper()
	records, err := awsmodels.ReadRecords()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	fmt.Fprintf(&out, "\n## Records of users\n\nUsers of other tools wrote down forms of AWS's answers (%d records, read on %s). Each is a rewrite above (%s), is of a field that\n"+
		"AWS fills in where nothing is declared (%s), is of a value that the schema refuses, or has the reason here.\n\n| field | AWS answers | written down in | decision |\n|---|---|---|---|\n",
		len(records.Records), records.Date, awsmodels.InCatalog, awsmodels.Undeclared)
	cell := strings.NewReplacer("|", "\\|", "<", "&lt;", "\n", " ", "*", "\\*", "_", "\\_")
	for _, r := range records.Records {
		fmt.Fprintf(&out, "| `%s.%s` | %s | %s | %s |\n", r.Kind, r.Field, cell.Replace(r.Form), cell.Replace(r.Source), cell.Replace(r.Decision))
	}
	return out.String()
}

// sourcesOf names the packages of the tables, with their days.
func sourcesOf(t *testing.T, models awsmodels.Table, reference awsmodels.Reference) string {
	t.Helper()
	handlers, err := awsmodels.ReadHandlers()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, s := range [][2]string{{models.Source, models.Date}, {reference.Source, reference.Date}, {handlers.Source, handlers.Date}} {
		if _, err := time.Parse(time.DateOnly, s[1]); err != nil {
			t.Errorf("%s: %v", s[0], err)
		}
		out = append(out, fmt.Sprintf("%s (%s)", s[0], s[1]))
	}
	return strings.Join(out, ", ")
}

// callsOf is the row of a kind about its rights.
func callsOf(e engine.Entry, reference awsmodels.Reference) string {
	resources, dependents, tags := map[string]bool{}, map[string]bool{}, 0
	actions := actionsOf(e)
	for _, action := range actions {
		known := reference.Actions[action]
		for _, r := range known.Resources {
			resources[r] = true
		}
		for _, d := range known.Dependents {
			dependents[d] = true
		}
		if known.Tags && !known.Tagging {
			tags++
		}
	}
	return fmt.Sprintf("| `%s` | %s | %d | %d | %d |\n", e.Name(), strings.Join(actions, ", "), len(resources), len(dependents), tags)
}

// partitionsOf is the row of a kind about the partitions of AWS.
func partitionsOf(e engine.Entry) string {
	in, lacks := kindtest.Lives(e.Name())
	var words []string
	for _, p := range slices.Sorted(maps.Keys(lacks)) {
		words = append(words, p+": "+lacks[p])
	}
	return fmt.Sprintf("| `%s` | %s | %s |\n", e.Name(), strings.Join(in, ", "), strings.Join(words, "; "))
}

func actionsOf(e engine.Entry) []string {
	m := e.Meta()
	all := slices.Concat(m.Reads, m.Writes, m.Optional, m.Judges)
	slices.Sort(all)
	return slices.Compact(all)
}

// sdkNames returns the names in the SDK of the services that have a name in IAM. A service that has it there, too, is the first.
func sdkNames(models awsmodels.Table, prefix string) []string {
	names := []string{prefix}
	for _, service := range slices.Sorted(maps.Keys(models.Services)) {
		if kind.IAMPrefix(service) == prefix && service != prefix {
			names = append(names, service)
		}
	}
	return names
}

// errorsOf is the row of a kind about the errors of its operations. Some actions of S3 and IAM have other names than the operations.
func errorsOf(t *testing.T, e engine.Entry, models awsmodels.Table) string {
	t.Helper()
	operations, classes, n := 0, map[awsclient.Class]int{}, 0
	for _, action := range actionsOf(e) {
		service, operation, _ := strings.Cut(action, ":")
		names := sdkNames(models, service)
		at := slices.IndexFunc(names, func(name string) bool { _, ok := models.Services[name][operation]; return ok })
		if at < 0 {
			continue
		}
		service = names[at]
		codes := models.Services[service][operation]
		operations++
		for _, code := range codes.All() {
			err := &smithy.OperationError{ServiceID: service, OperationName: operation, Err: &smithy.GenericAPIError{Code: code}}
			class := awsclient.Classify(err).Class
			if class == awsclient.Unknown {
				t.Errorf("%s of %s has no class", code, action)
			}
			classes[class]++
			n++
		}
	}
	var words []string
	for _, class := range slices.Sorted(maps.Keys(classes)) {
		words = append(words, fmt.Sprintf("%s %d", class, classes[class]))
	}
	return fmt.Sprintf("| `%s` | %d | %d | %s |\n", e.Name(), operations, n, strings.Join(words, ", "))
}

// formsOf is the row of a kind about its fields.
func formsOf(e engine.Entry) string {
	spec, _ := reflect.TypeOf(e.New()).Elem().FieldByName("Spec")
	fields, lists := countFields(spec.Type)
	var rewritten []string
	for _, r := range emulator.Rewrites() {
		if r.Kind == e.Name() {
			rewritten = append(rewritten, fmt.Sprintf("`%s`: %s", r.Field, r.What))
		}
	}
	return fmt.Sprintf("| `%s` | %d | %d | %s |\n", e.Name(), fields, lists, strings.Join(rewritten, "; "))
}

// countFields counts the values of a spec, and its lists and maps, without those that all kinds have.
func countFields(t reflect.Type) (fields, lists int) {
	switch {
	case t == reflect.TypeFor[v1alpha1.CommonSpec]():
		return 0, 0
	case t.Kind() == reflect.Pointer:
		return countFields(t.Elem())
	case t.Kind() == reflect.Slice, t.Kind() == reflect.Map:
		fields, lists = countFields(t.Elem())
		return fields, lists + 1
	case t.Kind() != reflect.Struct:
		return 1, 0
	}
	for i := range t.NumField() {
		f, l := countFields(t.Field(i).Type)
		fields, lists = fields+f, lists+l
	}
	return fields, lists
}
