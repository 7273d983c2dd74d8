// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"cmp"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/testkit/awsmodels"
)

// client is a package of the SDK that the operator calls: its name, its folder, and the prefix of its IAM actions.
type client struct{ name, folder, prefix string }

const sdk = "github.com/aws/aws-sdk-go-v2/service/"

// clients returns the packages of the SDK that the operator calls. Of those with one prefix, the package of the same name is first.
var clients = sync.OnceValues(func() ([]client, error) {
	called, err := awsmodels.Called("../..")
	if err != nil {
		return nil, err
	}
	args := []string{"list", "-f", "{{.ImportPath}} {{.Dir}}"}
	for service := range called {
		args = append(args, sdk+service)
	}
	list, err := exec.Command("go", args...).Output()
	if err != nil {
		return nil, err
	}
	var out []client
	for line := range strings.Lines(string(list)) {
		path, folder, _ := strings.Cut(strings.TrimSpace(line), " ")
		name := strings.TrimPrefix(path, sdk)
		out = append(out, client{name, folder, kind.IAMPrefix(name)})
	}
	slices.SortFunc(out, func(a, b client) int {
		isOther := func(c client) string { return strings.TrimPrefix(c.name, c.prefix) }
		return cmp.Or(cmp.Compare(a.prefix, b.prefix), cmp.Compare(isOther(a), isOther(b)))
	})
	return out, nil
})

// clientsOf returns the packages of the SDK with the operations of a prefix of IAM actions.
func clientsOf(t *testing.T, prefix string) (out []client) {
	t.Helper()
	all, err := clients()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		if c.prefix == prefix {
			out = append(out, c)
		}
	}
	return out
}

// answers holds the types of a package of the SDK that the answers of its operations consist of.
type answers map[string]*ast.StructType

// read adds the struct types of a file.
func (a answers) read(path string) error {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, d := range file.Decls {
		group, ok := d.(*ast.GenDecl)
		if !ok || group.Tok != token.TYPE {
			continue
		}
		for _, s := range group.Specs {
			spec := s.(*ast.TypeSpec)
			if of, ok := spec.Type.(*ast.StructType); ok {
				a[spec.Name.Name] = of
			}
		}
	}
	return nil
}

var typesOfService = map[string]answers{}

// answerOf returns the type of the answer of an operation, and the types of its members; nil if there is no such operation.
func answerOf(t *testing.T, prefix, operation string) (*ast.StructType, answers) {
	t.Helper()
	for _, c := range clientsOf(t, prefix) {
		own := answers{}
		err := own.read(filepath.Join(c.folder, "api_op_"+operation+".go"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if typesOfService[c.name] == nil {
			of := answers{}
			typesOfService[c.name] = of
			err = errors.Join(err, of.read(filepath.Join(c.folder, "types", "types.go")))
		}
		if err != nil {
			t.Fatal(err)
		}
		return own[operation+"Output"], typesOfService[c.name]
	}
	return nil, nil
}

// rolesIn lists the members of an answer that name a role: texts, and the references to instance profiles.
func (a answers) rolesIn(of *ast.StructType, path []string, above []*ast.StructType) (out []string) {
	if of == nil || slices.Contains(above, of) {
		return nil
	}
	for _, f := range of.Fields.List {
		for _, name := range f.Names {
			at := append(slices.Clone(path), name.Name)
			element := elementOf(f.Type)
			if namesRole.MatchString(name.Name) && (element == "string" || strings.HasSuffix(name.Name, "InstanceProfile")) {
				out = append(out, strings.Join(at, "."))
			}
			out = append(out, a.rolesIn(a[strings.TrimPrefix(element, "types.")], at, append(slices.Clone(above), of))...)
		}
	}
	return out
}

// elementOf returns the name of the type that a member consists of.
func elementOf(of ast.Expr) string {
	switch e := of.(type) {
	case *ast.StarExpr:
		return elementOf(e.X)
	case *ast.ArrayType:
		return elementOf(e.Elt)
	case *ast.MapType:
		return elementOf(e.Value)
	case *ast.SelectorExpr:
		return elementOf(e.X) + "." + e.Sel.Name
	case *ast.Ident:
		return e.Name
	default:
		return ""
	}
}
