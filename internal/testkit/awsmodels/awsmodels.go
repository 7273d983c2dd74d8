// SPDX-License-Identifier: Apache-2.0

// Package awsmodels is a checked-in table of AWS's published facts about the operations that the operator calls. Tests compare the
// project's own tables with it, so that a wrong belief of their authors does not pass for the behavior of AWS.
//
// `make awsmodels` regenerates the tables from the service models of the installed botocore.
package awsmodels

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

//go:embed errors.json
var table []byte

// Table are the errors that the service models name. Those of AWS's servers, which say nothing of the request, are left out.
type Table struct {
	// Source is the name and version of the package that the models are of.
	Source string `json:"source"`
	// Date is the day of the generation of the table from the package.
	Date string `json:"date"`
	// Services are by the last element of the SDK's import path, such as "cognitoidentityprovider", and by operation.
	Services map[string]map[string]Codes `json:"services"`
	// Named are the actions of IAM that the texts of an operation and of its parameters name, such as s3:TagResource of "s3
	// CreateBucket". They are rights that the caller needs with some parameters, and a few others that the text mentions.
	Named map[string]Codes `json:"named"`
	// Tags are the members of the input, with the outer ones before them, that hold tags of the resources that an operation creates or
	// changes. The key is that of Named.
	Tags map[string]Codes `json:"tags"`
}

// Codes lists error codes as AWS sends them, such as "ResourceNotFoundException", separated by spaces.
type Codes string

// All returns the codes one by one.
func (c Codes) All() []string { return strings.Fields(string(c)) }

// Read returns the checked-in table.
func Read() (Table, error) {
	var t Table
	if err := json.Unmarshal(table, &t); err != nil {
		return Table{}, fmt.Errorf("errors.json: %w", err)
	}
	return t, nil
}

//go:embed answers.json
var answersTable []byte

// Answers holds the members that AWS's answers always have. All others may be left out.
type Answers struct {
	// Source is the name and version of the package that the models are of.
	Source string `json:"source"`
	// Date is the day of the generation of the table from the package.
	Date string `json:"date"`
	// Required are the required members by service and by the name of their type in the SDK.
	Required map[string]map[string]Codes `json:"required"`
	// Defaults are the values that the texts of requests and answers name as the default of a member: numbers, values of enumerations
	// and true, by service and by the name of the member in the SDK. A member that has several is left out.
	Defaults map[string]map[string]string `json:"defaults"`
	// States are the values that the text of a member names, for a member that has the name of a state and is no enumeration. The keys are the
	// service, and the type and the member in the SDK, such as "Cluster.Status".
	States map[string]map[string][]string `json:"states"`
}

// ReadAnswers returns the checked-in members of answers.
func ReadAnswers() (Answers, error) {
	var a Answers
	if err := json.Unmarshal(answersTable, &a); err != nil {
		return Answers{}, fmt.Errorf("answers.json: %w", err)
	}
	return a, nil
}

//go:embed authorization.json
var authorization []byte

// Reference holds the actions of AWS's service authorization reference.
type Reference struct {
	// Source is the name and version of the package that the reference is of.
	Source string `json:"source"`
	// Date is the day of the generation of the table from the package.
	Date string `json:"date"`
	// Actions are by their names in policies, such as "glue:DeleteDatabase".
	Actions map[string]Action `json:"actions"`
}

// Action lists the rights that a caller needs for one action of IAM.
type Action struct {
	// Resources are the ARNs, with placeholders such as ${DatabaseName}, of the types of resource that AWS marks as required.
	Resources []string `json:"resources,omitempty"`
	// Optional lists the other types, which AWS evaluates where the request names such a resource.
	Optional []string `json:"optional,omitempty"`
	// Dependents are further actions that require a right of the caller, at least with some parameters.
	Dependents []string `json:"dependents,omitempty"`
	// Tags is set where a request can give tags: AWS evaluates aws:RequestTag.
	Tags bool `json:"tags,omitempty"`
	// Tagging is set where AWS's level of access to the action is that of changing tags.
	Tagging bool `json:"tagging,omitempty"`
}

// ReadReference returns the checked-in reference.
func ReadReference() (Reference, error) {
	var r Reference
	if err := json.Unmarshal(authorization, &r); err != nil {
		return Reference{}, fmt.Errorf("authorization.json: %w", err)
	}
	return r, nil
}

// isAction tells the names of actions from other strings.
var isAction = regexp.MustCompile(`^[a-z][a-z0-9-]*:[A-Z][A-Za-z0-9]+$`)

// isListOfActions tells lists of actions from other strings. A star stands for any letters.
var isListOfActions = regexp.MustCompile(`^ *[a-z][a-z0-9-]*:[A-Za-z0-9*]+( +[a-z][a-z0-9-]*:[A-Za-z0-9*]+)* *$`)

// notNeeded are the fields of the facts of a kind with actions that the kind does not take.
var notNeeded = []string{"Unneeded", "Decided"}

// Actions returns the actions of IAM that the strings of the operator's own code may name, but those that the facts of a kind declare as
// not needed. The source tree is root.
func Actions(root string) ([]string, error) {
	var found []string
	err := eachFile(root, func(file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			if pair, ok := n.(*ast.KeyValueExpr); ok {
				if field, ok := pair.Key.(*ast.Ident); ok && slices.Contains(notNeeded, field.Name) {
					return false
				}
			}
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				found = append(found, actionsIn(l.Value)...)
			}
			return true
		})
	})
	slices.Sort(found)
	return slices.Compact(found), err
}

// actionsIn returns the actions in a string of the code; none if it is no list of actions.
func actionsIn(literal string) []string {
	s, err := strconv.Unquote(literal)
	if err != nil || !isListOfActions.MatchString(s) {
		return nil
	}
	return slices.DeleteFunc(strings.Fields(s), func(action string) bool { return !isAction.MatchString(action) })
}

// sdk begins the import path of every client.
const sdk = "github.com/aws/aws-sdk-go-v2/service/"

// Called returns the operations that the operator's own code calls, by service. It finds them by the inputs that the code makes. Tests and
// the test bed are left out. The source tree is root.
func Called(root string) (map[string][]string, error) {
	found := map[string][]string{}
	err := eachFile(root, func(file *ast.File) { addCalls(found, file) })
	for service, operations := range found {
		slices.Sort(operations)
		found[service] = slices.Compact(operations)
	}
	return found, err
}

// eachFile parses every file of the operator's own code.
func eachFile(root string, do func(*ast.File)) error {
	return filepath.WalkDir(filepath.Join(root, "internal"), func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testkit" || d.Name() == "kindtest" || d.Name() == "testdata"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err == nil {
			do(file)
		}
		return err
	})
}

// addCalls adds the operations of one file.
func addCalls(found map[string][]string, file *ast.File) {
	services := map[string]string{} // by the name in the file
	for _, i := range file.Imports {
		at, err := strconv.Unquote(i.Path.Value)
		if service, ok := strings.CutPrefix(at, sdk); err == nil && ok && !strings.Contains(service, "/") {
			name := path.Base(at)
			if i.Name != nil {
				name = i.Name.Name
			}
			services[name] = service
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		x, ok := s.X.(*ast.Ident)
		if !ok {
			return true
		}
		if operation, ok := strings.CutSuffix(s.Sel.Name, "Input"); ok && services[x.Name] != "" {
			found[services[x.Name]] = append(found[services[x.Name]], operation)
		}
		return true
	})
}
