// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/config/crd"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/identity"
	"github.com/nexus-operator/nexus-operator/internal/crdschema"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Validate checks a capability against the schema of its kind, as the API server does, and then makes the checks that a schema cannot
// express. It returns nil or a *status.Stalled that names the first field at fault.
func Validate(c *nexusv1.NexusAICapability, f part.Facts) error {
	if err := checkSchema(c); err != nil {
		return err
	}
	return check(c, f, nil)
}

// schemas are the definitions of the kinds.
var schemas = sync.OnceValues(func() (*crdschema.Schemas, error) { return crdschema.Load(crd.Bases) })

// checkSchema checks the patterns, the bounds and the keys of lists of the kind's schema. The CEL rules are not evaluated: the parts know
// what their rules are about, and say more of a mistake.
func checkSchema(c *nexusv1.NexusAICapability) error {
	known, err := schemas()
	if err != nil {
		return err
	}
	// Another pass may write the status of the capability meanwhile.
	declared := &nexusv1.NexusAICapability{ObjectMeta: metav1.ObjectMeta{Name: c.Name, Namespace: c.Namespace}, Spec: c.Spec}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(declared)
	if err != nil {
		return err
	}
	u := &unstructured.Unstructured{Object: content}
	u.SetGroupVersionKind(nexusv1.GroupVersion.WithKind("NexusAICapability"))
	if err := known.Default(u); err != nil { // as the API server reads what is stored
		return err
	}
	return known.ValidateSchema(u.GetKind(), u)
}

// check makes the checks beyond the schema, and adds to read the proofs that it looks at.
func check(c *nexusv1.NexusAICapability, f part.Facts, read part.Reads) error {
	v := &part.Verdict{Parts: parts.All, Read: read}
	for _, run := range part.InTurn(v.Parts, func(p part.Part) []part.Turn[part.Checking] { return p.Checks }) {
		run(v, c, f)
	}
	if v.First == nil {
		checkSurroundings(v, c, f)
	}
	if v.First != nil {
		return v.First
	}
	return nil
}

// checkSurroundings reports mistakes that only the facts and the compiled objects can show.
func checkSurroundings(v *part.Verdict, c *nexusv1.NexusAICapability, f part.Facts) {
	s := &c.Spec
	n := part.NamesOf(c)
	if s.Region != "" && f.Provider.Region != "" && s.Region != f.Provider.Region {
		v.Refuse(status.ReasonImmutable, "spec.region",
			"AWSProvider/%s is in %s and a region cannot change: set spec.region to it or leave it out", part.ProviderName(c), f.Provider.Region)
	}
	if ns := n.WorkloadNamespace(); ns == f.OperatorNamespace {
		v.Refuse(status.ReasonConflict, "spec.capabilityName",
			"the workload namespace would be %s, the operator's own: choose another capabilityName or environment", ns)
	}
	k := part.NewCompiler(v.Parts, c, f)
	k.AssumeOwned, k.Read = true, v.Read
	for _, p := range k.Parts {
		if p.Surroundings != nil {
			p.Surroundings(v, c, f, k)
		}
	}
	for _, a := range k.Parts.AccessSets(s) {
		size := len(k.Document(k.RightsWithin(a)...))
		if extra := identity.ExtraStatements(k); len(extra) > 0 && !a.Limited {
			size += len(k.Document(extra...))
		}
		v.Require(size <= part.MaxPolicies, "spec.identity.extraPolicyStatements",
			"the policies of the role %s have %d characters, AWS allows %d: declare fewer statements, tables, buckets, queues, topics, secrets or actions", a.Role(n), size, part.MaxPolicies)
	}
}
