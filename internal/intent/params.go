// SPDX-License-Identifier: Apache-2.0

package intent

import (
	"fmt"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Check returns the first problem of the parameters, with the name of the parameter, or "".
func (e Entry) Check(params map[string][]string) string {
	for _, name := range slices.Sorted(maps.Keys(params)) {
		i := slices.IndexFunc(e.Params, func(p Param) bool { return p.hasName(name) })
		if i < 0 {
			return fmt.Sprintf("params.%s is not a parameter of %s%s", name, e.ID, e.knownParams())
		}
		if problem := e.Params[i].check(params[name]); problem != "" {
			return "params." + name + ": " + problem
		}
	}
	return ""
}

// hasName reports whether a parameter has the name, as its own or as an alias.
func (p Param) hasName(name string) bool { return p.Name == name || slices.Contains(p.Aliases, name) }

// canonical renames aliases of parameters to their own names; a parameter that is also given under its own name keeps that value.
func (e Entry) canonical(params map[string][]string) map[string][]string {
	for _, p := range e.Params {
		for _, alias := range p.Aliases {
			if _, twice := params[p.Name]; len(params[alias]) > 0 && !twice {
				params[p.Name] = params[alias]
				delete(params, alias)
			}
		}
	}
	return params
}

// strictest are the parameters of two intents of this id in one: as strict as the stricter of both.
func (e Entry) strictest(a, b map[string][]string) map[string][]string {
	out := map[string][]string{}
	for _, p := range e.Params {
		if v := p.strictest(a[p.Name], b[p.Name]); len(v) > 0 {
			out[p.Name] = v
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

func (p Param) strictest(a, b []string) []string {
	both := slices.DeleteFunc(slices.Clone(a), func(v string) bool { return !slices.Contains(b, v) })
	switch p.Strict {
	case Ordered:
		rank := func(v []string) int { return slices.Index(p.Strictest, append(slices.Clone(v), p.Default)[0]) }
		if rank(b) < rank(a) {
			return b
		}
		return a
	case Fewer:
		return both
	case FewerOrAny:
		if len(a) > 0 && len(b) > 0 && len(both) > 0 {
			return both
		}
	case More:
		return slices.Compact(slices.Sorted(slices.Values(slices.Concat(a, b))))
	}
	if len(a) > 0 {
		return a
	}
	return b
}

func (e Entry) knownParams() string {
	if len(e.Params) == 0 {
		return ", which has none"
	}
	names := make([]string, len(e.Params))
	for i, p := range e.Params {
		names[i] = p.Name
	}
	return "; it has " + strings.Join(names, ", ")
}

func (p Param) check(values []string) string {
	if len(values) > 1 && !p.Many {
		return fmt.Sprintf("has one value, not %d", len(values))
	}
	for _, v := range values {
		if len(p.Values) > 0 && !slices.Contains(p.Values, v) {
			return fmt.Sprintf("%q is not one of %s", v, strings.Join(p.Values, ", "))
		}
		if p.Check == nil {
			continue
		}
		if problem := p.Check(v); problem != "" {
			return fmt.Sprintf("%q %s", v, problem)
		}
	}
	return ""
}

func cidr(v string) string {
	if p, err := netip.ParsePrefix(v); err != nil || p != p.Masked() {
		return "is not a network such as 169.254.20.10/32"
	}
	return ""
}

func port(v string) string {
	if n, err := strconv.Atoi(v); err != nil || n < 1 || n > 65535 || strconv.Itoa(n) != v {
		return "is not a port from 1 to 65535"
	}
	return ""
}

func dnsLabel(v string) string {
	if len(validation.IsDNS1123Label(v)) > 0 {
		return "is not a name of lower-case letters, digits and -"
	}
	return ""
}

func dnsSubdomain(v string) string {
	if len(validation.IsDNS1123Subdomain(v)) > 0 {
		return "is not a name of lower-case letters, digits, - and ."
	}
	return ""
}

// serviceAccount is namespace/name.
func serviceAccount(v string) string {
	ns, name, ok := strings.Cut(v, "/")
	if !ok || len(validation.IsDNS1123Label(ns)) > 0 || len(validation.IsDNS1123Subdomain(name)) > 0 {
		return "is not of the form namespace/serviceaccount"
	}
	return ""
}

var methods = regexp.MustCompile(`^[A-Z]+$`)

func method(v string) string {
	if !methods.MatchString(v) {
		return "is not an HTTP method such as GET"
	}
	return ""
}

func httpPath(v string) string {
	if !strings.HasPrefix(v, "/") || strings.Count(v, "*") > 1 || strings.Contains(v, "*") && !strings.HasSuffix(v, "*") {
		return "is not a path such as /api/* (one * at the end)"
	}
	return ""
}
