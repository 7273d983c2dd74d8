// SPDX-License-Identifier: Apache-2.0

package resources

import (
	_ "embed" // for the table of kinds
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"

	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsschema"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
)

// resourceKind describes a kind that a capability may declare in dataServices.resources.
type resourceKind struct {
	// typeName is the resource type of AWS that the kind manages.
	typeName string
	// store is true where data is lost with the resource.
	store bool
}

// kindsTable has a line for each kind that is declarable by its facts. The compiler must not import the kinds. A test therefore keeps the
// table equal to their facts, and NEXUS_UPDATE=1 writes it.
//
//go:embed kinds.txt
var kindsTable string

// resourceKinds are the kinds that dataServices.resources may name. Other kinds have separate fields in a capability, or give
// rights to others.
var resourceKinds = readKinds(kindsTable)

func readKinds(table string) map[string]resourceKind {
	out := map[string]resourceKind{}
	for line := range strings.Lines(table) {
		if words := strings.Fields(line); len(words) == 3 {
			out[words[0]] = resourceKind{typeName: words[1], store: words[2] == "store"}
		}
	}
	return out
}

// objects knows the types of all kinds.
var objects = sync.OnceValues(func() (*runtime.Scheme, error) {
	s := runtime.NewScheme()
	return s, awsv1.AddToScheme(s)
})

// newObject returns an empty object of a kind that dataServices.resources may name.
func newObject(kind string) (awsv1.Resource, error) {
	types, err := objects()
	if err != nil {
		return nil, err
	}
	o, err := types.New(awsv1.GroupVersion.WithKind(kind))
	if err != nil {
		return nil, err
	}
	return o.(awsv1.Resource), nil
}

// HoldsData reports whether data is lost with the AWS resource of an object of dataServices.resources. A type that is newer than this
// version may hold some.
func HoldsData(o awsv1.Resource) bool {
	if r, is := o.(*awsv1.AWSResource); is {
		return TypeHoldsData(r.Spec.TypeName)
	}
	return false
}

// TypeHoldsData reports whether resources of a type of AWS hold data.
func TypeHoldsData(typeName string) bool {
	grants, known, err := awsschema.GrantsOf(typeName)
	return err != nil || !known || grants.HoldsData()
}

// IsStoreKind reports whether objects of a kind of dataServices.resources are stores. Of an AWSResource, its type decides.
func IsStoreKind(kind string) bool { return resourceKinds[kind].store || kind == part.KindAnyType }
