// SPDX-License-Identifier: Apache-2.0

package intent

import "slices"

// Direction is a set of directions of traffic, as seen from the selected pods.
type Direction int

// The directions.
const (
	Ingress Direction = 1 << iota
	Egress
)

// Entry is an intent of the catalog. A new one makes every engine's completeness test fail until the
// engine says how it covers it.
type Entry struct {
	// ID is canonical.
	ID string
	// Aliases are other ids of the same intent.
	Aliases []string
	// Title states the goal in a sentence.
	Title string
	// Params are the parameters it knows.
	Params []Param
	// Restricts are the traffic directions that it limits, by a union of allowed flows.
	Restricts Direction
}

// Param is a parameter of an intent.
type Param struct {
	Name string
	// Aliases are other names of the same parameter.
	Aliases []string
	// Values are the only ones allowed; if empty, Check decides.
	Values []string
	// Strictest are the values from the strictest to the laxest, where they are Ordered. The default is among them.
	Strictest []string
	// Default is the meaning of an absent parameter, if it is Ordered.
	Default string
	// Many allows more than one value.
	Many bool
	// Check returns the problem of one value, or "".
	Check func(value string) string
	// Strict says which of two lists of values is the stricter one.
	Strict Strictness
}

// Strictness is the rule to merge the values of a parameter in two intents of one id.
type Strictness int

// The kinds of strictness.
const (
	// First keeps the first list that is given: neither is stricter.
	First Strictness = iota
	// Ordered keeps the value that comes first in Param.Strictest; absent is the last.
	Ordered
	// Fewer keeps the values that both have: each opens something, and none opens nothing.
	Fewer
	// FewerOrAny is Fewer where none opens everything: a list that is given is stricter than none, and lists
	// without a common value leave the first.
	FewerOrAny
	// More keeps the values of both: each closes something.
	More
)

// Catalog lists every intent, in the order of the documentation.
func Catalog() []Entry {
	return []Entry{
		{ID: "dnsManipulation", Title: "Pods resolve names only by the cluster's DNS, and cannot change how", Restricts: Egress, Params: []Param{
			{Name: "otherEgress", Values: []string{"deny", "allow"}, Strict: Ordered, Strictest: []string{"deny", "allow"}, Default: "deny"},
			{Name: "dnsPeers", Many: true, Check: cidr, Strict: Fewer},
			{Name: "awsCIDRs", Many: true, Check: cidr, Strict: Fewer},
		}},
		{ID: "swDeploymentTools", Aliases: []string{"pkgManagerExecution"},
			Title: "No package manager runs in a container, nor a tool to download with"},
		{ID: "pkgMgrs", Title: "No package manager runs in a container"},
		{ID: "unAuthorizedSaTokenAccess", Title: "No process reads the ServiceAccount's token"},
		{ID: "preventExecutionFromTempOrLogsFolders", Aliases: []string{"exploitPFA"},
			Title: "No execution from folders that anybody can write to"},
		{ID: "escapeToHost", Title: "No container reaches its host",
			Params: []Param{{Name: "psaLevel", Aliases: []string{"psa_level"}, Values: []string{"baseline", "restricted"}, Strict: Ordered,
				Strictest: []string{"restricted", "baseline"}, Default: "baseline"}}},
		{ID: "denyExternalNetworkAccess", Title: "Pods talk only to pods and private networks", Restricts: Ingress | Egress, Params: []Param{
			{Name: "allowCIDRs", Many: true, Check: cidr, Strict: Fewer},
			{Name: "allowEgressCIDRs", Many: true, Check: cidr, Strict: Fewer},
			{Name: "awsCIDRs", Many: true, Check: cidr, Strict: Fewer},
		}},
		{ID: "allowEgressToNames", Title: "Pods call nothing outside the cluster but some DNS names", Restricts: Egress, Params: []Param{
			{Name: "names", Many: true, Check: dnsName, Strict: FewerOrAny},
			{Name: "ports", Many: true, Check: port, Strict: FewerOrAny},
			{Name: "inCluster", Values: []string{"deny", "allow"}, Strict: Ordered, Strictest: []string{"deny", "allow"}, Default: "deny"},
		}},
		{ID: "cocoWorkload", Title: "Pods run in a confidential container runtime", Params: []Param{{Name: "runtimeClass", Check: dnsSubdomain}}},
		{ID: "virtualPatch", Title: "Known vulnerabilities cannot be exploited before the image is patched",
			Params: []Param{{Name: "cveList", Many: true, Check: cve, Strict: More}, {Name: "schedule"}}},
		{ID: "assessTLS", Title: "The TLS of services is assessed regularly",
			Params: []Param{{Name: "schedule", Check: schedule}, {Name: "external_addresses", Many: true, Check: hostPort, Strict: More}}},
		{ID: "ensureTLS", Title: "Traffic between workloads is mutual TLS", Params: []Param{
			{Name: "mode", Values: []string{"strict", "permissive"}, Strict: Ordered, Strictest: []string{"strict", "permissive"},
				Default: "strict"},
			{Name: "exceptPorts", Many: true, Check: port, Strict: Fewer},
			{Name: "requireIdentity", Values: []string{"false", "true"}, Strict: Ordered, Strictest: []string{"true", "false"}, Default: "false"},
		}},
		{ID: segmentation, Title: "Only some namespaces and accounts may talk to the pods", Restricts: Ingress, Params: []Param{
			{Name: "fromNamespaces", Many: true, Check: dnsLabel, Strict: FewerOrAny},
			{Name: "fromServiceAccounts", Many: true, Check: serviceAccount, Strict: FewerOrAny},
			{Name: "ports", Many: true, Check: port, Strict: FewerOrAny},
		}},
		{ID: "apiSegmentation", Title: "Only some methods and paths of an HTTP API can be called", Params: []Param{
			{Name: "allowMethods", Many: true, Check: method, Strict: FewerOrAny},
			{Name: "allowPaths", Many: true, Check: httpPath, Strict: FewerOrAny},
			{Name: "denyPaths", Many: true, Check: httpPath, Strict: More},
		}},
	}
}

// Lookup finds an entry by its id or an alias.
func Lookup(id string) (Entry, bool) {
	for _, e := range Catalog() {
		if e.ID == id || slices.Contains(e.Aliases, id) {
			return e, true
		}
	}
	return Entry{}, false
}

// Restricts are the directions that any of the policy's blocking rules restricts.
func (p Policy) Restricts() Direction {
	var d Direction
	for _, r := range p.Rules {
		if e, ok := Lookup(r.ID); ok && !r.Audit() {
			d |= e.Restricts
		}
	}
	return d
}
