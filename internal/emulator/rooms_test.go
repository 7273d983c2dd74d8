// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/emulator/proxy"
)

// Files outside the package of a service that name it in a text, with the reason. The list can only become shorter.
var (
	namedInCore = map[string]string{
		"iam in proxy/iam.go":   "the policies of callers are read from IAM",
		"iam in proxy/seed.go":  "users and policies for tests are made in IAM",
		"sts in proxy/seed.go":  "the audience of a token for IAM",
		"sqs in lag/lag.go":     "LikeAWS says that queues lag longer",
		"sqs in proxy/trail.go": "events of CloudTrail are sent to a queue",
	}
	namedByOthers = map[string]string{
		"ec2 in services/eks":            "the network of a cluster is that of its subnets",
		"ec2 in services/iam":            "EC2 gets the roles of instance profiles",
		"ec2 in services/rds":            "a DB subnet group needs subnets in two zones",
		"iam in services/eks":            "an association needs a role",
		"iam in services/sts":            "a role is assumed by its trust policy",
		"secretsmanager in services/rds": "RDS keeps passwords in Secrets Manager",
	}
)

// source is a file of the emulator without tests, by its path below the folder.
type source struct {
	file   *ast.File
	name   string // lag/lag.go
	folder string // services/ec2
}

func sources(t *testing.T) []source {
	t.Helper()
	var out []source
	fset := token.NewFileSet()
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		name = filepath.ToSlash(name)
		out = append(out, source{f, name, path.Dir(name)})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// texts returns the texts in the code of a file, without imports and tags.
func (s source) texts() []string {
	var out []string
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			return n.Tag == nil
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
				out = append(out, text)
			}
		}
		return true
	})
	return out
}

// folderOf returns the folder of a service, and "" for a service without one.
func folderOf(s proxy.Service) string {
	return "services/" + path.Base(reflect.TypeOf(s).Elem().PkgPath())
}

// names reports whether a text is the name of a service, or begins with it as actions, kinds and types of resources do.
func names(text, prefix string) bool {
	rest, begins := strings.CutPrefix(text, prefix)
	return begins && (rest == "" || strings.ContainsAny(rest[:1], ":./ ") && !strings.Contains(rest, " is ") && !strings.HasPrefix(rest, ". "))
}

// A newcomer finds all that the emulator knows of a service in its package: no other file names it.
func TestServices_AreKnownInTheirPackagesAlone(t *testing.T) {
	core, others := map[string]bool{}, map[string]bool{}
	all := newServices().list
	for _, s := range all {
		prefix, home := s.Facts().Prefix, folderOf(s)
		for _, f := range sources(t) {
			for _, text := range f.texts() {
				switch {
				case f.folder == home:
				case strings.HasPrefix(f.folder, "services/") && text == prefix:
					others[prefix+" in "+f.folder] = true
				case !strings.HasPrefix(f.folder, "services/") && names(text, prefix):
					core[prefix+" in "+f.name] = true
				}
			}
		}
	}
	compare(t, "the core names no service: move what it knows of one to the package of the service", core, namedInCore)
	compare(t, "a service names another one only to ask it", others, namedByOthers)
	if len(all) < 25 {
		t.Errorf("only %d services are found", len(all))
	}
}

// The operations of a service are words of its package, too.
func TestServices_HaveTheirOperationsInTheirPackagesAlone(t *testing.T) {
	operations := map[string]bool{}
	for _, s := range newServices().list {
		for _, c := range s.Corrections() {
			for _, op := range c.Ops {
				operations[op] = true
			}
		}
		f := s.Facts()
		for _, op := range slices.Concat(slices.Collect(maps.Keys(f.Names)), slices.Collect(maps.Keys(f.Errors.Missing)), f.Writes.Data,
			f.Writes.InTurn, f.Events.Data) {
			operations[op] = true
		}
	}
	delete(operations, "") // all operations
	found := map[string]bool{}
	for _, f := range sources(t) {
		for _, text := range f.texts() {
			if operations[text] && !strings.HasPrefix(f.folder, "services/") {
				found[text+" in "+f.name] = true
			}
		}
	}
	compare(t, "the core knows no operation", found, map[string]string{
		"CreatePolicy in proxy/seed.go": "policies for tests are made in IAM",
		"Scan in proxy/decode.go":       "the first word of reads",
		"Query in proxy/decode.go":      "the first word of reads",
	})
	if len(operations) < 150 {
		t.Errorf("only %d operations are found", len(operations))
	}
}

func compare(t *testing.T, rule string, found map[string]bool, known map[string]string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if known[name] == "" {
			t.Errorf("%s: %s", rule, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		if !found[name] {
			t.Errorf("%q is an exception without a use: remove it", name)
		}
	}
}

// No type is a hall: it has at most 40 methods and, where it is a struct, 20 fields.
func TestTypes_AreRoomsAndNoHalls(t *testing.T) {
	methods := map[string]int{}
	for _, f := range sources(t) {
		for _, d := range f.file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil {
				methods[f.folder+" "+receiver(fn.Recv.List[0].Type)]++
			}
		}
		ast.Inspect(f.file, func(n ast.Node) bool {
			if s, ok := n.(*ast.StructType); ok && s.Fields.NumFields() > 20 {
				t.Errorf("%s: a struct has %d fields", f.name, s.Fields.NumFields())
			}
			return true
		})
	}
	for name, n := range methods {
		if n > 40 {
			t.Errorf("%s has %d methods", name, n)
		}
	}
	if methods["proxy Proxy"] < 10 {
		t.Errorf("the methods of Proxy are not found: %v", methods)
	}
}

func receiver(e ast.Expr) string {
	if star, ok := e.(*ast.StarExpr); ok {
		e = star.X
	}
	name, _ := e.(*ast.Ident)
	return name.Name
}

// Reset removes the settings of an earlier test: the test calls each method that sets something, and Reset forgets the setting.
func TestServices_ForgetWhatWasSet(t *testing.T) {
	all := 0
	core := reflect.TypeFor[*proxy.Core]()
	for i, s := range newServices().list {
		fresh := newServices().list[i]
		fresh.Reset()
		s.Reset()
		v, called := reflect.ValueOf(s), 0
		for m := range v.NumMethod() {
			name := v.Type().Method(m).Name
			_, isOfCore := core.MethodByName(name)
			if isOfCore || !strings.HasPrefix(name, "Set") && !strings.HasPrefix(name, "Break") {
				continue
			}
			call, args := v.Method(m).Call, make([]reflect.Value, v.Method(m).Type().NumIn())
			if v.Method(m).Type().IsVariadic() {
				call = v.Method(m).CallSlice
			}
			for a := range args {
				args[a] = something(t, v.Method(m).Type().In(a))
			}
			call(args)
			called++
		}
		s.Reset()
		if all += called; called > 0 && !reflect.DeepEqual(s, fresh) {
			t.Errorf("%s: Reset leaves %+v, not %+v", s.Facts().Prefix, s, fresh)
		}
	}
	if all < 25 {
		t.Errorf("only %d methods that set something were found", all)
	}
}

// something returns a value of a type other than its zero.
func something(t *testing.T, of reflect.Type) reflect.Value {
	t.Helper()
	v := reflect.New(of).Elem()
	switch of.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Float64:
		v.SetFloat(0.5)
	case reflect.String:
		v.SetString("something")
	case reflect.Slice:
		return reflect.Append(v, something(t, of.Elem()))
	case reflect.Map:
		v.Set(reflect.MakeMap(of))
		v.SetMapIndex(something(t, of.Key()), something(t, of.Elem()))
	case reflect.Interface:
		v.Set(reflect.ValueOf("something"))
	default:
		t.Fatalf("no value of type %s", of)
	}
	return v
}
