package intent

import "slices"

// Direction is a set of directions of traffic, as seen from the selected pods.
type Direction int

// The directions.
const (
	Ingress Direction = 1 << iota
	Egress
)

// Entry is an intent of the catalogue. A new one makes every engine's completeness test fail until the
// engine says how it covers it.
type Entry struct {
	// ID is canonical.
	ID string
	// Aliases are other ids of the same intent.
	Aliases []string
	// Title says in a sentence what must be true.
	Title string
	// Params are the parameters it knows.
	Params []Param
	// Restricts are the directions in which it limits who may talk to whom, by a union of allowed flows.
	Restricts Direction
	// NotYet says that no engine can do it yet: each answers None/NotYetSupported.
	NotYet bool
}

// Param is a parameter of an intent.
type Param struct {
	Name string
	// Aliases are other names of the same parameter.
	Aliases []string
	// Values are the only ones allowed; empty allows what Check allows.
	Values []string
	// Many allows more than one value.
	Many bool
	// Check says what is wrong with one value, or "".
	Check func(value string) string
}

// Catalogue lists every intent, in the order of the documentation.
func Catalogue() []Entry {
	return []Entry{
		{ID: "dnsManipulation", Title: "Pods resolve names only by the cluster's DNS, and cannot change how", Restricts: Egress, Params: []Param{
			{Name: "otherEgress", Values: []string{"deny", "allow"}},
			{Name: "dnsPeers", Many: true, Check: cidr},
		}},
		{ID: "swDeploymentTools", Aliases: []string{"pkgManagerExecution"}, Title: "No package manager runs in a container, nor a tool to download with"},
		{ID: "pkgMgrs", Title: "No package manager runs in a container"},
		{ID: "unAuthorizedSaTokenAccess", Title: "No process reads the ServiceAccount's token"},
		{ID: "preventExecutionFromTempOrLogsFolders", Aliases: []string{"exploitPFA"}, Title: "Nothing is executed from folders that anybody can write to"},
		{ID: "escapeToHost", Title: "No container reaches its host", Params: []Param{{Name: "psaLevel", Aliases: []string{"psa_level"}, Values: []string{"baseline", "restricted"}}}},
		{ID: "denyExternalNetworkAccess", Title: "Pods talk only to pods and private networks", Restricts: Ingress | Egress, Params: []Param{{Name: "allowCIDRs", Many: true, Check: cidr}}},
		{ID: "cocoWorkload", Title: "Pods run in a confidential container runtime", Params: []Param{{Name: "runtimeClass", Check: dnsLabel}}},
		{ID: "virtualPatch", Title: "Known vulnerabilities cannot be exploited before the image is patched", NotYet: true, Params: []Param{{Name: "cveList", Many: true}, {Name: "schedule"}}},
		{ID: "assessTLS", Title: "The TLS of services is assessed regularly", NotYet: true, Params: []Param{{Name: "schedule"}, {Name: "external_addresses", Many: true}}},
		{ID: "ensureTLS", Title: "Traffic between workloads is mutual TLS", Params: []Param{
			{Name: "mode", Values: []string{"strict", "permissive"}},
			{Name: "exceptPorts", Many: true, Check: port},
			{Name: "requireIdentity", Values: []string{"false", "true"}},
		}},
		{ID: "networkSegmentation", Title: "Only some namespaces and accounts may talk to the pods", Restricts: Ingress, Params: []Param{
			{Name: "fromNamespaces", Many: true, Check: dnsLabel},
			{Name: "fromServiceAccounts", Many: true, Check: serviceAccount},
			{Name: "ports", Many: true, Check: port},
		}},
		{ID: "apiSegmentation", Title: "Only some methods and paths of an HTTP API can be called", Params: []Param{
			{Name: "allowMethods", Many: true, Check: method},
			{Name: "allowPaths", Many: true, Check: httpPath},
			{Name: "denyPaths", Many: true, Check: httpPath},
		}},
	}
}

// Lookup finds an entry by its id or an alias.
func Lookup(id string) (Entry, bool) {
	for _, e := range Catalogue() {
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
