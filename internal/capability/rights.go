// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"cmp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/graph"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Proof says what a child owns in AWS.
type Proof struct {
	// ARN is that of the child's resource.
	ARN string
	// UID is the child's, which its resources carry as a tag.
	UID string
	// Names are the SSM parameters of a parameter set, relative to its path.
	Names []string
	// Client is the ID of the app client of a user pool.
	Client string
	// Values are the exported values of a resource that are known, by their variables.
	Values map[string]string
	// Settled is true for a resource that is as declared, of which no more values are expected.
	Settled bool
	// Foreign is true for an existing store that an object of another namespace owns, and Neighbor for one that another object of the same
	// namespace owns.
	Foreign, Neighbor bool
}

// Granting are the kinds on whose resources the roles of a capability get rights.
var Granting = allParts().kindsThat(func(f kindFacts) bool { return f.grants })

// Proving are the kinds whose proofs are gathered: the granting ones, and those with identifiers that AWS assigns: of the user
// pool they go to the workloads, of the certificate to the load balancer.
var Proving = append(slices.Clone(Granting), allParts().kindsThat(func(f kindFacts) bool { return f.proves })...)

// Prove returns what a child of the kind owns in AWS, with the ID of its node. A child proves something when the
// capability controls it, it goes through the capability's provider, and the operator recorded its ARN in the
// status of a resource that the child owned at the last look. Tenants can write such objects but not their
// status. A resource that has another owner by now proves nothing, nor
// does a child whose resource was deleted and that only others keep.
func Prove(c *nexusv1.NexusAICapability, kind string, child awsv1.Resource) (id string, proof Proof, ok bool) {
	if _, is := allParts().existingOf(c, kind, child.GetName()); is {
		return proveExisting(c, kind, child)
	}
	st := child.CommonStatus()
	declared, isPart := resourceOf(allParts(), c, kind, child.GetName())
	if !isChildOf(c, child) || st.ARN == "" && !isPart || !ownsNow(kind, child) {
		return "", Proof{}, false
	}
	proof = Proof{ARN: st.ARN, UID: string(child.GetUID())}
	if prove := allParts().factsOf(kind).prove; prove != nil {
		prove(child, &proof)
	}
	if isPart {
		proof.Values, proof.Settled = exportedBy(declared, child), status.ReadyAt(st.Conditions, child.GetGeneration())
	}
	return graph.ID(kind, child.GetNamespace(), child.GetName(), c.Namespace), proof, true
}

// ownsNow reports whether a child manages a resource that was its own at the last look.
func ownsNow(kind string, child awsv1.Resource) bool {
	st := child.CommonStatus()
	return st.OwnsResource() && !awsv1.IsLeftBehind(kind, child) && child.CommonSpec().ManagementPolicy != awsv1.ManageObserve && !status.IsDisputed(st.Conditions)
}

// proveExisting tells the ARN of the existing store that a child observes. The status, which tenants cannot write, has it once AWS showed the store
// under the name that the child declares. While the object is paused, it does not notice another owner.
func proveExisting(c *nexusv1.NexusAICapability, kind string, child awsv1.Resource) (id string, proof Proof, ok bool) {
	st, paused := child.CommonStatus(), child.GetAnnotations()[wellknown.AnnotationPaused] == "true"
	if !isChildOf(c, child) || !IsExisting(child) || paused || st.ARN == "" || st.Ownership == "" || st.Ownership == awsv1.OwnershipDisputed {
		return "", Proof{}, false
	}
	proof = Proof{ARN: st.ARN, UID: string(child.GetUID()), Foreign: st.Ownership == awsv1.OwnershipObservedForeign}
	return graph.ID(kind, child.GetNamespace(), child.GetName(), c.Namespace), proof, true
}

// isChildOf reports whether the capability controls an object that goes through the capability's provider.
func isChildOf(c *nexusv1.NexusAICapability, child awsv1.Resource) bool {
	owner, provider := metav1.GetControllerOf(child), child.CommonSpec().ProviderRef
	return owner != nil && owner.UID == c.UID && provider.Name == ProviderName(c) && (provider.Namespace == "" || provider.Namespace == c.Namespace)
}

// addGrant adds a child to those on which the application's role gets rights. The role waits for all of them, so
// that its policy is written once.
func (k *compiler) addGrant(id string) { k.grants = append(k.grants, id) }

// owned returns the ARN if that is what the child owns, else "".
func (k *compiler) owned(id, arn string) string {
	if k.expected != nil {
		return k.expect(id, Proof{ARN: arn}).ARN
	}
	if k.assumeOwned || k.proof(id).ARN == arn {
		return arn
	}
	return ""
}

// appStatements allow the use of exactly those of the capability's resources that are proven to be its own, and of what it
// names in Bedrock. A name alone gives no right to a store: another capability, or anybody in AWS, could have taken it
// first.
func (k *compiler) appStatements() []iampolicy.Statement {
	var out []iampolicy.Statement
	rights := inTurn(k.parts, func(p part) []turn[granting] { return p.rights })
	for _, of := range rights {
		out = append(out, of(k)...)
	}
	return out
}

// keyUse lists the actions for reading and writing encrypted data.
var keyUse = []string{"kms:Decrypt", "kms:GenerateDataKey"}

// keyReads lists the actions for reading encrypted data.
var keyReads = []string{"kms:Decrypt"}

// maxNamedStores limits the stores that the condition of a key names one by one; more are named by their common prefix.
// The prefix may fit stores of others too, whose data the role has no right to read or to write.
const maxNamedStores = 8

func (k *compiler) byPrefix(names []string, prefix string) []string {
	if len(names) > maxNamedStores {
		return []string{prefix + k.names.Of("*")}
	}
	return names
}

// service is the name of an AWS service in a region, as kms:ViaService has it.
// https://docs.aws.amazon.com/kms/latest/developerguide/conditions-kms.html#conditions-kms-via-service
func (h home) service(name string) string {
	return name + "." + h.region + "." + wellknown.DNSSuffix(h.partition)
}

// provenARN is the ARN that AWS assigned to what a child owns, or a placeholder until that is proven.
func (k *compiler) provenARN(id string) string {
	return cmp.Or(k.proof(id).ARN, placeholderFor(id))
}

// assigned returns the ARN of a child of which AWS chooses the last characters; "" when it is not proven to be the child's.
func (k *compiler) assigned(id, begin string, chosen int) string {
	arn := k.proof(id).ARN
	if k.expected != nil {
		arn = k.expect(id, Proof{ARN: begin + placeholderFor(id)}).ARN
	}
	if k.assumeOwned {
		arn = begin + strings.Repeat("?", chosen)
	}
	if !strings.HasPrefix(arn, begin) {
		return ""
	}
	return arn
}

// withResources leaves out the statements that name no resource.
func withResources(statements ...iampolicy.Statement) []iampolicy.Statement {
	return slices.DeleteFunc(statements, func(s iampolicy.Statement) bool { return len(s.Resource) == 0 })
}
