// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// namesTag is the struct tag of a field of a spec that names a resource which the object does not manage. Its value is the type of
// the resource, as the ARN has it: ec2:subnet, or arn where the field holds the whole ARN.
const namesTag = "names"

// Named is a resource that a spec names by an identifier.
type Named struct {
	// Field is the path of the field, such as spec.subnetIDs[0]; Value is what it holds.
	Field, Value string
	// Type is the value of the tag of the field.
	Type string
}

// NamedIn returns the resources that the spec of an object names by identifiers, in the order of their paths.
func NamedIn(obj v1alpha1.Resource) []Named {
	var out []Named
	collectNamed(reflect.ValueOf(obj).Elem().FieldByName("Spec"), "spec", "", &out)
	slices.SortStableFunc(out, func(a, b Named) int { return strings.Compare(a.Field, b.Field) }) // maps have no order
	return out
}

// collectNamed adds what a value names. The type is that of the tag of its field; empty for a field without the tag.
func collectNamed(v reflect.Value, path, resource string, out *[]Named) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			collectNamed(v.Elem(), path, resource, out)
		}
	case reflect.Struct:
		collectFields(v, path, out)
	case reflect.Slice, reflect.Map:
		for key, element := range v.Seq2() {
			collectNamed(element, fmt.Sprintf("%s[%v]", path, key), resource, out)
		}
	case reflect.String:
		if resource != "" && v.String() != "" {
			*out = append(*out, Named{Field: path, Value: v.String(), Type: resource})
		}
	default:
	}
}

// collectFields adds what the fields of a struct name. A RawExtension may contain any ARN.
func collectFields(v reflect.Value, path string, out *[]Named) {
	if v.Type() == reflect.TypeFor[runtime.RawExtension]() {
		var value any
		_ = json.Unmarshal(v.FieldByName("Raw").Bytes(), &value) // the kind refuses what is no JSON
		collectARNs(value, path, out)
		return
	}
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		below := path + "." + name
		if name == "" {
			below = path // of an embedded struct
		}
		collectNamed(v.Field(i), below, field.Tag.Get(namesTag), out)
	}
}

// collectARNs adds the ARNs in a value whose members are only known at run time.
func collectARNs(value any, path string, out *[]Named) {
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			collectARNs(member, path+"."+name, out)
		}
	case []any:
		for i, element := range value {
			collectARNs(element, fmt.Sprintf("%s[%d]", path, i), out)
		}
	case string:
		if strings.HasPrefix(value, "arn:") {
			*out = append(*out, Named{Field: path, Value: value, Type: "arn"})
		}
	}
}

// ownerLookups are the actions that read the tags of what is named, by the type of the resource; of all others tag:GetResources.
var ownerLookups = map[string][]string{"iam:role": {"iam:GetRole"}, "kms:key": {"kms:DescribeKey", "tag:GetResources"}}

// lookupsOf returns the actions that read the owners of what specs of a type name.
func lookupsOf(t reflect.Type, seen map[reflect.Type]bool) []string {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	switch {
	case t.Kind() != reflect.Struct || seen[t]:
		return nil
	case t == reflect.TypeFor[runtime.RawExtension](): // which may contain any ARN
		return []string{"iam:GetRole", "kms:DescribeKey", "tag:GetResources"}
	}
	seen[t] = true
	var out []string
	for i := range t.NumField() {
		field := t.Field(i)
		if resource := field.Tag.Get(namesTag); resource != "" {
			actions, special := ownerLookups[resource]
			out = append(out, kind.Either(special, actions, []string{"tag:GetResources"})...)
		}
		out = append(out, lookupsOf(field.Type, seen)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// refuseOthersResources refuses a plan that would use a resource of another owner by its identifier: a reference to an object
// would need an object of the same namespace. Resources without an owner are used as their identity in AWS allows.
func refuseOthersResources(ctx context.Context, sc kind.Scope, o Owner, obj v1alpha1.Resource, p Plan) error {
	if sc.OwnersOf == nil || o.Deleting || !p.Writes() || o.ReportsOnly(p) {
		return nil
	}
	named := NamedIn(obj)
	arns := arnsOf(sc, named)
	if len(arns) == 0 {
		return nil
	}
	tags, err := sc.OwnersOf(ctx, arns)
	if err != nil {
		return err
	}
	for _, n := range named {
		if !o.mayUse(tags[n.arn(sc)]) {
			return &status.Stalled{Reason: status.ReasonNotPermitted, Field: n.Field, Message: fmt.Sprintf(
				"%s belongs to an object of another namespace: name a resource of this namespace, or have an administrator add the namespace of its owner to --shared-namespaces of the operator", n.Value)}
		}
	}
	return nil
}

// arnsOf returns the ARNs of what is named, each once.
func arnsOf(sc kind.Scope, named []Named) (out []string) {
	for _, n := range named {
		if arn := n.arn(sc); arn != "" && !slices.Contains(out, arn) {
			out = append(out, arn)
		}
	}
	return out
}

// arn returns the ARN of what is named; empty for a resource of another account, and for what is no identifier of a resource. RDS finds
// Shop and shop by either name, and its ARN has lower case, as those of buckets, of keys and of EC2 have: the case of a name hides no owner.
func (n Named) arn(sc kind.Scope) string {
	service, resource, _ := strings.Cut(n.Type, ":")
	value := n.Value
	switch {
	case strings.HasPrefix(value, "arn:"):
		return n.canonicalARN(sc)
	case n.Type == "ecr:image":
		return repositoryOf(sc, value)
	case n.Type == "ec2:internet-gateway" && !strings.HasPrefix(value, "igw-"), n.Type == "arn":
		return ""
	case n.Type == "s3:bucket":
		return strings.Join([]string{"arn", sc.Partition, "s3", "", "", strings.ToLower(value)}, ":")
	case n.Type == "iam:role":
		return strings.Join([]string{"arn", sc.Partition, "iam", "", sc.Account, "role/" + strings.TrimPrefix(value, "/")}, ":")
	case n.Type == "route53:hostedzone":
		return strings.Join([]string{"arn", sc.Partition, "route53", "", "", "hostedzone/" + value}, ":")
	case n.Type == "kms:key":
		return strings.Join([]string{"arn", sc.Partition, "kms", sc.Region, sc.Account, kind.Either(strings.HasPrefix(value, "alias/"), value, "key/"+strings.ToLower(value))}, ":")
	default:
		return strings.Join([]string{"arn", sc.Partition, service, sc.Region, sc.Account, resource + kind.Either(service == "rds", ":", "/") + strings.ToLower(value)}, ":")
	}
}

// canonicalARN returns an ARN without what follows the resource: the path of an object of a bucket, or the version of a function.
func (n Named) canonicalARN(sc kind.Scope) string {
	parts := strings.SplitN(n.Value, ":", 6)
	if len(parts) < 6 || parts[4] != "" && parts[4] != sc.Account {
		return ""
	}
	switch parts[2] {
	case "s3":
		parts[5], _, _ = strings.Cut(parts[5], "/")
	case "kms":
		if id, isKey := strings.CutPrefix(parts[5], "key/"); isKey {
			parts[5] = "key/" + strings.ToLower(id)
		}
	case "lambda":
		if words := strings.Split(parts[5], ":"); len(words) > 2 {
			parts[5] = strings.Join(words[:2], ":")
		}
	}
	return strings.Join(parts, ":")
}

// repositoryOf returns the ARN of the repository of an image, in the form ACCOUNT.dkr.ecr.REGION.DOMAIN/REPOSITORY:TAG, with dkr.ecr-fips
// for the endpoints that meet FIPS, and with dkr-ecr for those that serve IPv6 too:
// https://docs.aws.amazon.com/AmazonECR/latest/userguide/ecr-requests.html
func repositoryOf(sc kind.Scope, image string) string {
	host, path, _ := strings.Cut(image, "/")
	host = strings.NewReplacer(".dkr.ecr-fips.", ".dkr.ecr.", ".dkr-ecr.", ".dkr.ecr.", ".dkr-ecr-fips.", ".dkr.ecr.").Replace(strings.ToLower(host))
	words := strings.SplitN(host, ".", 5)
	if len(words) < 5 || words[0] != sc.Account || words[2] != "ecr" {
		return ""
	}
	repository, _, _ := strings.Cut(path, "@")
	repository, _, _ = strings.Cut(repository, ":")
	return strings.Join([]string{"arn", sc.Partition, "ecr", words[3], sc.Account, "repository/" + repository}, ":")
}
