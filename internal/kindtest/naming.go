// SPDX-License-Identifier: Apache-2.0

package kindtest

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
)

// unlived are the fields that name another resource and that no row declares, by kind and path, with the reason.
var unlived = map[string]string{
	"RouteTable.Routes.InstanceID":                            onTheRouteTable,
	"RouteTable.Routes.NetworkInterfaceID":                    onTheRouteTable,
	"RouteTable.Routes.VPCPeeringConnectionID":                onTheRouteTable,
	"RouteTable.Routes.TransitGatewayID":                      onTheRouteTable,
	"SecurityGroup.IngressRules.PrefixListIDs":                onTheGroup,
	"SecurityGroup.EgressRules.PrefixListIDs":                 onTheGroup,
	"SecurityGroup.EgressRules.SourceSecurityGroupID":         onTheGroup,
	"SecurityGroup.EgressRules.SourceSecurityGroupRef":        onTheGroup,
	"Route53RecordSet.Validates.CertificateRef":               "the status of the certificate's object has the record, and no call names the certificate",
	"S3Bucket.Notification.LambdaFunctions.LambdaFunctionARN": "S3 asks the function's policy, and not the caller, for the right to invoke it",
}

// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonec2.html
const (
	onTheRouteTable = "ec2:CreateRoute and ec2:ReplaceRoute need rights to the route table alone, whatever the route leads to"
	onTheGroup      = "the calls for rules need rights to the group and its rules alone, whatever a rule names"
)

// spellings end the names of fields that name one resource in two ways: by an object, and by the name in AWS. The reference is replaced by
// the value before the first call, so that both need the same rights.
var spellings = []string{"Refs", "Ref", "IDs", "ID", "ARNs", "ARN", "Name"}

// withoutSpelling returns the path of a field without the end of its name that says how it names the resource.
func withoutSpelling(path string) string {
	for _, end := range spellings {
		if short, ok := strings.CutSuffix(path, end); ok && !strings.HasSuffix(short, ".") {
			return short
		}
	}
	return path
}

// namesResource reports whether a field names another resource: a key, a role, a network, or an object that stands for one.
func namesResource(f reflect.StructField) bool {
	of := f.Type
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	return f.Tag.Get("names") != "" || of == reflect.TypeFor[v1alpha1.ObjectReference]()
}

// namingFields returns the paths of the fields of a type that name resources.
func namingFields(of reflect.Type, at string) (paths []string) {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice || of.Kind() == reflect.Map {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct || of == reflect.TypeFor[v1alpha1.CommonSpec]() || of == reflect.TypeFor[v1alpha1.ObjectReference]() {
		return nil
	}
	for i := range of.NumField() {
		switch f := of.Field(i); {
		case !f.IsExported():
		case namesResource(f):
			paths = append(paths, at+"."+f.Name)
		default:
			paths = append(paths, namingFields(f.Type, at+"."+f.Name)...)
		}
	}
	return paths
}

// addNamed adds the paths of the fields of a value that name resources and are set.
func addNamed(to map[string]bool, v reflect.Value, at string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			addNamed(to, v.Elem(), at)
		}
	case reflect.Slice:
		for i := range v.Len() {
			addNamed(to, v.Index(i), at)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			addNamed(to, v.MapIndex(key), at)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if !f.IsExported() || f.Type == reflect.TypeFor[v1alpha1.CommonSpec]() {
				continue
			}
			if namesResource(f) {
				if !v.Field(i).IsZero() {
					to[at+"."+f.Name] = true
				}
				continue
			}
			addNamed(to, v.Field(i), at+"."+f.Name)
		}
	}
}

// reportNamed fails for a field that names a resource and was declared by no object that became ready with the rights of the printed
// policies alone.
func (f *forms) reportNamed(t *testing.T, of reflect.Type) {
	t.Helper()
	named := map[string]bool{}
	for path := range f.named {
		named[withoutSpelling(path)] = true
	}
	for _, path := range namingFields(of, f.kind) {
		switch why, lived := unlived[path], named[withoutSpelling(path)]; {
		case lived && why != "":
			t.Errorf("the reason in unlived about %s is about nothing", path)
		case !lived && why == "":
			t.Errorf("no row declares %s, so that nobody knows whether the printed policies are enough for it; declared are %q", path,
				slices.Sorted(maps.Keys(f.named)))
		}
	}
}
