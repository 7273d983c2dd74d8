// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

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

// naming says how a request names resources of a type.
type naming struct {
	// members lists the members with the name, the identifier or the ARN. In forms, # is a number.
	members []string
	// names returns what stands behind the type in the ARN, or the ARN, where the member is something else.
	names func(q *asker) []string
}

// namingOf returns the naming of a type that the kinds and the applications use. A type without one is never named.
func namingOf(kind string) (n naming, known bool) {
	service, _, _ := strings.Cut(kind, " ")
	n, known = factsOf(service).Rights.Namings[kind]
	return n, known
}

// notNamed is the reason why a request of an action never names a type of resources; "" where it does.
func notNamed(action, kind string) string {
	service, _, _ := strings.Cut(action, ":")
	return factsOf(service).Rights.NotNamed[action+" "+kind]
}

// anyARN are the members of requests that hold the ARN of a resource of any type.
var anyARN = []string{"ResourceArn", "ResourceARN", "resourceArn", "ResourceName"}

// unnamed is the resource of a demand for which the request names none, though it must. No limited policy allows it.
const unnamed = "unnamed: "

// ofReference returns the demands for an action on the resources that the reference says it is about.
func (q *asker) ofReference(action string) []demand {
	a, known := reference().Actions[action]
	if !known {
		return []demand{{action: action, context: q.context}}
	}
	var out []demand
	on := func(arns []string) {
		for _, arn := range arns {
			out = append(out, q.need(action, arn, nil))
		}
	}
	for _, template := range a.Resources {
		arns := q.arnsOf(template)
		switch {
		case notNamed(action, typeOf(template)) != "" && len(arns) == 0:
		case len(arns) == 0 && (isNew(q.x.op) || !isWrite(q.x.op)):
			arns = []string{q.anyOf(template)}
		case len(arns) == 0:
			arns = []string{unnamed + typeOf(template)}
		}
		on(arns)
	}
	for _, template := range a.Optional {
		if notNamed(action, typeOf(template)) == "" {
			on(q.arnsOf(template))
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, template := range a.Optional {
		if _, known := namingOf(typeOf(template)); known && !isWrite(q.x.op) {
			return []demand{q.need(action, q.anyOf(template), nil)}
		}
	}
	if len(a.Optional) > 0 {
		return []demand{q.need(action, unnamed+action, nil)}
	}
	return []demand{q.need(action, "*", nil)}
}

// isNew reports whether an operation makes a resource, whose identifier AWS may choose.
func isNew(op string) bool {
	return slices.ContainsFunc([]string{"Create", "Allocate", "Run", "Import", "Request"}, func(verb string) bool { return strings.HasPrefix(op, verb) })
}

// arnsOf returns the ARNs of the resources of a type that the request names.
func (q *asker) arnsOf(template string) []string {
	kind := typeOf(template)
	beginning, rest, placed := strings.Cut(q.filled(template), "*")
	if !placed {
		return []string{beginning} // such as the catalog of Glue
	}
	literal := beginning[strings.LastIndex(beginning, ":")+1:]
	if parts := strings.SplitN(beginning, ":", 6); len(parts) == 6 {
		literal = parts[5]
	}
	n, known := namingOf(kind)
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
		case strings.Count(rest, "*") > strings.Count(name, "/"): // an index of a table whose name alone is known
		default:
			found[beginning+name] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// namesBy returns the names of resources, their parts of an ARN, and ARNs, also those of other types.
func (q *asker) namesBy(n naming, literal string) []string {
	names := q.values(append(n.members, anyARN...)...)
	for i, name := range names {
		if !strings.HasPrefix(name, "arn:") && slices.Contains(q.values(anyARN...), name) {
			names[i] = "" // a name whose type another member has
		}
	}
	if n.names != nil {
		names = append(names, n.names(q)...)
	}
	names = append(names, q.pathARN())
	for _, id := range q.values("ResourceId.#") {
		if prefix, _, _ := strings.Cut(id, "-"); q.x.facts().Rights.Identifiers[prefix]+"/" == literal {
			names = append(names, id)
		}
	}
	return names
}

// sameType reports whether a name is an ARN, and returns it if it is of the type whose ARNs begin so.
func (q *asker) sameType(name, beginning, literal string) (arn string, isARN bool) {
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
func (q *asker) pathARN() string {
	if i := strings.Index(q.x.http.URL.Path, "/tags/arn:"); i >= 0 {
		return q.x.http.URL.Path[i+len("/tags/"):]
	}
	return ""
}

// filled is a template with the partition, the region and the account of the request, and * for the other placeholders.
func (q *asker) filled(template string) string {
	template = strings.NewReplacer("${Partition}", q.partition(), "${Region}", q.x.region, "${Account}", q.account()).Replace(template)
	return placeholder.ReplaceAllString(template, "*")
}

// anyOf is the ARN of any resource of a type, and of one that is being made.
func (q *asker) anyOf(template string) string { return q.filled(template) }

// partitions are by the beginning of the names of their regions.
var partitions = map[string]string{"cn-": "aws-cn", "us-gov-": "aws-us-gov", "eusc-": "aws-eusc"}

func (q *asker) partition() string { return partitionOf(q.x.region) }

// partitionOf returns the partition of a region.
func partitionOf(region string) string {
	for prefix, partition := range partitions {
		if strings.HasPrefix(region, prefix) {
			return partition
		}
	}
	return "aws"
}

// values returns the values of members of the request, of each that is a list all of its elements. @ is what the request is about.
func (q *asker) values(members ...string) []string {
	var out []string
	for _, m := range members {
		switch {
		case m == "@":
			out = append(out, q.x.resource)
		case q.x.form != nil:
			for _, key := range slices.Sorted(maps.Keys(q.x.form)) {
				if sameMember(m, key) {
					out = append(out, q.x.form.Get(key))
				}
			}
		default:
			out = append(out, list(member(q.x.json, m))...)
		}
	}
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}

// without returns the values of members without a prefix.
func (q *asker) without(prefix string, members ...string) []string {
	out := q.values(members...)
	for i := range out {
		out[i] = strings.TrimPrefix(out[i], prefix)
	}
	return out
}

// sameMember compares the key of a form with the path of a member, in which # is a number.
func sameMember(path, key string) bool {
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
