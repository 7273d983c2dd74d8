// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/nexus-operator/nexus-operator/internal/emulator/policy"
	"github.com/nexus-operator/nexus-operator/internal/testkit/awsmodels"
)

// reference is the service authorization reference, as far as the operator and its applications use it.
var reference = sync.OnceValue(func() awsmodels.Reference {
	r, err := awsmodels.ReadReference()
	if err != nil {
		panic(err) // it is checked in, and a test reads it
	}
	return r
})

var placeholder = regexp.MustCompile(`\$\{[^}]*\}`)

// typeOf names the type of resource that the template of an ARN is of, such as "ec2 vpc/*" and "glue table/*/*".
func typeOf(template string) string {
	parts := strings.SplitN(template, ":", 6)
	return parts[2] + " " + placeholder.ReplaceAllString(parts[5], "*")
}

// templates lists the templates of the reference by type.
var templates = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for _, a := range reference().Actions {
		for _, t := range slices.Concat(a.Resources, a.Optional) {
			all[typeOf(t)] = t
		}
	}
	return all
})

// Naming says how a request names resources of a type.
type Naming struct {
	// Members lists the members with the name, the identifier or the ARN. In forms, # is a number.
	Members []string
	// Names returns the part of the ARN after the type, or the whole ARN, if no member of the request holds the name.
	Names func(q *Asker) []string
}

// namingOf returns the naming of a type that the kinds and the applications use. A type without one is never named.
func (c *Catalog) namingOf(kind string) (n Naming, known bool) {
	service, _, _ := strings.Cut(kind, " ")
	n, known = c.of(service).Rights.Namings[kind]
	return n, known
}

// notNamed is the reason why a request of an action never names a type of resources; "" where it does.
func (c *Catalog) notNamed(action, kind string) string {
	service, _, _ := strings.Cut(action, ":")
	return c.of(service).Rights.NotNamed[action+" "+kind]
}

// anyARN are the members of requests that hold the ARN of a resource of any type.
var anyARN = []string{"ResourceArn", "ResourceARN", "resourceArn", "ResourceName"}

// unnamed is the resource of a demand when the request has to name one and names none. No limited policy allows it.
const unnamed = "unnamed: "

// ofReference returns the demands for an action on the resources that the reference says it is about.
func (q *Asker) ofReference(action string) []policy.Demand {
	a, known := reference().Actions[action]
	if !known {
		return []policy.Demand{{Action: action, Context: q.Context}}
	}
	var out []policy.Demand
	on := func(arns []string) {
		for _, arn := range arns {
			out = append(out, q.Need(action, arn, nil))
		}
	}
	for _, template := range a.Resources {
		arns := q.arnsOf(template)
		switch {
		case q.p.catalog.notNamed(action, typeOf(template)) != "" && len(arns) == 0:
		case len(arns) == 0 && (IsNew(q.X.Op) || !q.X.IsWrite()):
			arns = []string{q.anyOf(template)}
		case len(arns) == 0:
			arns = []string{unnamed + typeOf(template)}
		}
		on(arns)
	}
	for _, template := range a.Optional {
		if q.p.catalog.notNamed(action, typeOf(template)) == "" {
			on(q.arnsOf(template))
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, template := range a.Optional {
		if _, known := q.p.catalog.namingOf(typeOf(template)); known && !q.X.IsWrite() {
			return []policy.Demand{q.Need(action, q.anyOf(template), nil)}
		}
	}
	if len(a.Optional) > 0 {
		return []policy.Demand{q.Need(action, unnamed+action, nil)}
	}
	return []policy.Demand{q.Need(action, "*", nil)}
}

// IsNew reports whether an operation creates a resource. AWS may choose the identifier of such a resource.
func IsNew(op string) bool {
	return slices.ContainsFunc([]string{"Create", "Allocate", "Run", "Import", "Request"},
		func(verb string) bool { return strings.HasPrefix(op, verb) })
}

// arnsOf returns the ARNs of the resources of a type that the request names.
func (q *Asker) arnsOf(template string) []string {
	kind := typeOf(template)
	beginning, rest, placed := strings.Cut(q.filled(template), "*")
	if !placed {
		return []string{beginning} // such as the catalog of Glue
	}
	literal := beginning[strings.LastIndex(beginning, ":")+1:]
	if parts := strings.SplitN(beginning, ":", 6); len(parts) == 6 {
		literal = parts[5]
	}
	n, known := q.p.catalog.namingOf(kind)
	if !known {
		return nil
	}
	found := map[string]bool{}
	for _, name := range q.namesBy(n, literal) {
		arn, isARN := q.sameType(name, beginning, literal)
		switch {
		case name == "" || isARN && arn == "":
		case isARN:
			found[arn] = true
		case strings.Count(rest, "*") > strings.Count(name, "/"): // an index of a table, and only the name of the table is known
		default:
			found[beginning+name] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// namesBy returns the names of resources, their parts of an ARN, and ARNs, also those of other types.
func (q *Asker) namesBy(n Naming, literal string) []string {
	names := q.Values(append(n.Members, anyARN...)...)
	for i, name := range names {
		if !strings.HasPrefix(name, "arn:") && slices.Contains(q.Values(anyARN...), name) {
			names[i] = "" // another member has the type of the name
		}
	}
	if n.Names != nil {
		names = append(names, n.Names(q)...)
	}
	names = append(names, q.pathARN())
	for _, id := range q.Values("ResourceId.#") {
		if prefix, _, _ := strings.Cut(id, "-"); q.X.facts().Rights.Identifiers[prefix]+"/" == literal {
			names = append(names, id)
		}
	}
	return names
}

// sameType reports whether a name is an ARN, and returns it if it is of the type with that beginning of ARNs.
func (q *Asker) sameType(name, beginning, literal string) (arn string, isARN bool) {
	parts := strings.SplitN(name, ":", 6)
	if len(parts) < 6 || parts[0] != "arn" {
		return "", false
	}
	if parts[2] == strings.Split(beginning, ":")[2] && strings.HasPrefix(parts[5], literal) {
		return name, true
	}
	return "", true
}

// pathARN is the ARN at the end of the path of a REST request about tags.
func (q *Asker) pathARN() string {
	if i := strings.Index(q.X.HTTP.URL.Path, "/tags/arn:"); i >= 0 {
		return q.X.HTTP.URL.Path[i+len("/tags/"):]
	}
	return ""
}

// filled is a template with the partition, the region and the account of the request, and * for the other placeholders.
func (q *Asker) filled(template string) string {
	template = strings.NewReplacer("${Partition}", q.Partition(), "${Region}", q.X.Region, "${Account}", q.Account()).Replace(template)
	return placeholder.ReplaceAllString(template, "*")
}

// anyOf is the ARN of any resource of a type, and of one that is being made.
func (q *Asker) anyOf(template string) string { return q.filled(template) }

// partitions are by the beginning of the names of their regions.
var partitions = map[string]string{"cn-": "aws-cn", "us-gov-": "aws-us-gov", "eusc-": "aws-eusc"}

// Partition is the partition of the region of the request.
func (q *Asker) Partition() string { return PartitionOf(q.X.Region) }

// PartitionOf returns the partition of a region.
func PartitionOf(region string) string {
	for prefix, partition := range partitions {
		if strings.HasPrefix(region, prefix) {
			return partition
		}
	}
	return "aws"
}

// Values returns the values of members of the request. A member that is a list gives all of its elements. @ is the resource of the request.
func (q *Asker) Values(members ...string) []string {
	var out []string
	for _, m := range members {
		switch {
		case m == "@":
			out = append(out, q.X.Resource)
		case q.X.Form != nil:
			for _, key := range slices.Sorted(maps.Keys(q.X.Form)) {
				if SameMember(m, key) {
					out = append(out, q.X.Form.Get(key))
				}
			}
		default:
			out = append(out, policy.List(Member(q.X.JSON, m))...)
		}
	}
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}

// Without returns the values of members without a prefix.
func (q *Asker) Without(prefix string, members ...string) []string {
	out := q.Values(members...)
	for i := range out {
		out[i] = strings.TrimPrefix(out[i], prefix)
	}
	return out
}

// SameMember compares the key of a form with the path of a member. A # in the path is a number.
func SameMember(path, key string) bool {
	want, have := strings.Split(path, "."), strings.Split(key, ".")
	if len(want) != len(have) {
		return false
	}
	for i := range want {
		if want[i] != have[i] && !(want[i] == "#" && strings.Trim(have[i], "0123456789") == "") {
			return false
		}
	}
	return true
}
