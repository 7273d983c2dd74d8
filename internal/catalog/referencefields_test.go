// SPDX-License-Identifier: Apache-2.0

package catalog_test

import (
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/catalog"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// noAWS fails every call to AWS.
type noAWS struct{}

var errNoAWS = errors.New("AWS was called")

func (noAWS) Do(*http.Request) (*http.Response, error) { return nil, errNoAWS }

// refer makes the field that a path leads to refer to an object, in the first element of each list on the way.
func refer(v reflect.Value, path []string, name string) {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Slice {
		switch {
		case v.Kind() == reflect.Slice && v.Len() == 0:
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		case v.Kind() == reflect.Pointer && v.IsNil():
			v.Set(reflect.New(v.Type().Elem()))
		}
		if v.Kind() == reflect.Slice {
			v = v.Index(0)
		} else {
			v = v.Elem()
		}
	}
	if len(path) == 0 {
		v.FieldByName("Name").SetString(name)
		return
	}
	for _, f := range reflect.VisibleFields(v.Type()) {
		if json, _, _ := strings.Cut(f.Tag.Get("json"), ","); json == path[0] {
			refer(v.FieldByIndex(f.Index), path[1:], name)
			return
		}
	}
}

// needed sets the fields without which some kinds resolve no reference.
var needed = map[string]func(v1alpha1.Resource){
	"Route53HostedZone": func(o v1alpha1.Resource) { o.(*v1alpha1.Route53HostedZone).Spec.PrivateZone = true },
	"PodIdentityAssociation": func(o v1alpha1.Resource) {
		s := &o.(*v1alpha1.PodIdentityAssociation).Spec
		s.ClusterName, s.Namespace, s.ServiceAccount = "production", "team", "app"
	},
	"Subnet": func(o v1alpha1.Resource) { o.(*v1alpha1.Subnet).Spec.CIDRBlock = "10.0.0.0/24" },
	"RouteTable": func(o v1alpha1.Resource) {
		o.(*v1alpha1.RouteTable).Spec.Routes = &[]v1alpha1.Route{{DestinationCIDRBlock: "10.0.0.0/24"}}
	},
}

// later are the fields that wait until the group of the referring object exists, because two groups may name each other. The group is
// created without the rule; see TestGroupsMayReferToEachOther.
var later = map[string]bool{"SecurityGroup spec.ingressRules.sourceSecurityGroupRef": true,
	"SecurityGroup spec.egressRules.sourceSecurityGroupRef": true}

// referrerOf is an object of a kind with one field that refers to the object x.
func referrerOf(e engine.Entry, field string) v1alpha1.Resource {
	obj := e.New()
	obj.SetNamespace("team")
	obj.SetName("referrer")
	if set := needed[e.Name()]; set != nil {
		set(obj)
	}
	refer(reflect.ValueOf(obj).Elem().FieldByName("Spec"), strings.Split(field, ".")[1:], "x")
	return obj
}

// elsewhere is an object that another namespace has, in the best state: no reference has a field for a namespace.
var elsewhere = target{name: "another namespace's", edit: func(*v1alpha1.CommonSpec, *v1alpha1.CommonStatus) {}}

// Every field that refers to an object, in every state of that object: the field is resolved by the state, before AWS is called, and a
// refusal by the state is the failure of the object.
func TestEveryReferenceFieldAsksForTheStateOfItsObject(t *testing.T) {
	entries, rows := map[string]engine.Entry{}, 0
	for _, e := range catalog.Kinds() {
		entries[e.Name()] = e
	}
	for _, e := range catalog.Kinds() {
		spec, _ := reflect.TypeOf(e.New()).Elem().FieldByName("Spec")
		for _, field := range referenceFields(spec.Type, "spec") {
			if field == "spec.providerRef" {
				continue
			}
			obj := referrerOf(e, field)
			for _, of := range append(slices.Clone(targets), elsewhere) {
				rows++
				asked, answer := "", errors.New("nobody asked")
				sc := kind.Scope{Place: kind.Place{Partition: "aws", Account: "123456789012", Region: "eu-west-1"}, Namespace: "team",
					Federation: kind.Federation{EKSCluster: "production"},
					Tags:       map[string]string{}, Search: kind.Search{OwnerTags: map[string]string{}}}
				sc.Ref = func(kindName, name string) (got kind.Target, err error) {
					if asked = kindName; name != "x" {
						t.Errorf("%s: %s: asked for %s", e.Name(), field, name)
					}
					objects := map[string]v1alpha1.Resource{"team/x": stateOf(entries[kindName], of)}
					if of.name == elsewhere.name {
						objects = map[string]v1alpha1.Resource{"other/x": stateOf(entries[kindName], of)}
					}
					got, answer = engine.TargetOf(engine.Referrer{Home: engine.Home(sc.Partition, sc.Account, sc.Region), Foreign: of.foreign},
						entries[kindName], name, objects[sc.Namespace+"/"+name])
					return got, answer
				}
				binding := e.Bind(aws.Config{Region: sc.Region, HTTPClient: noAWS{}, RetryMaxAttempts: 1})
				_, err := binding.Decide(t.Context(), sc,
					engine.Owner{Identity: engine.Identity{Kind: e.Name(), Namespace: "team", Name: "referrer", UID: "u", Cluster: "c"}}, obj)
				switch {
				case asked == "" || !slices.Contains(e.Meta().References, asked):
					t.Errorf("%s: %s does not ask for an object of a kind in Meta.References, but for %q: %v", e.Name(), field, asked, err)
				case (answer == nil) != mayReferTo(of, entries[asked]):
					t.Errorf("%s: %s to %s, %s: %v", e.Name(), field, asked, of.name, answer)
				case answer != nil && later[e.Name()+" "+field] && errors.Is(err, errNoAWS):
				case answer != nil && !errors.Is(err, answer):
					t.Errorf("%s: %s to %s, %s, is refused with %v, and the object goes on: %v", e.Name(), field, asked, of.name, answer, err)
				}
			}
		}
	}
	if rows < 500 {
		t.Errorf("only %d rows", rows)
	}
}

// mayReferTo reports whether a reference may lead to an object of a kind in a state.
func mayReferTo(of target, e engine.Entry) bool {
	switch {
	case e.Name() == "IAMRole":
		return of.role
	case of.anywhere:
		return e.Meta().Facts.Reach == kind.Everywhere
	default:
		return of.other
	}
}
