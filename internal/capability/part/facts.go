// SPDX-License-Identifier: Apache-2.0

package part

import (
	"cmp"
	"net/netip"
	"strings"

	corev1 "k8s.io/api/core/v1"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
)

// DefaultRegion is the region of a capability when neither it nor the operator names one.
const DefaultRegion = "ap-southeast-1"

// Facts holds the input of Compile about the surroundings of the capability. The zero value means that nothing is known.
type Facts struct {
	Provider ProviderFacts
	Cluster  ClusterFacts
	Limits   Limits
	Balancer BalancerFacts
	// Gateway holds the observed Gateway of a capability that has one.
	Gateway GatewayFacts
	// Identity holds the observed sources of credentials; zero for a capability that has and had only IRSA.
	Identity IdentityFacts

	// Regions lists the regions that exist; empty leaves spec.region unchecked.
	Regions []string
	// Region is the operator's default, for a capability that names neither a region nor a provider.
	Region string
	// Owned holds the children with a proof that the capability owns their AWS resource, by the IDs of their nodes. Roles get rights on
	// these resources only.
	Owned map[string]Proof
	// HasCNAME is true while the host has the CNAME record that CNAMEObject names. It stays, because Route 53 refuses other
	// records beside it.
	HasCNAME bool
	// Zone is the ID of the hosted zone that the spec names in another way; empty until it is known.
	Zone string
	// OperatorNamespace is never used for workloads.
	OperatorNamespace string
	// ClosesEgress holds the named SecurityIntents that block the egress to AWS of the pods they are bound to, each with its remedy.
	ClosesEgress map[string]string
	// ClosedToBalancers are the SecurityIntents, of those that the capability names, that close a component to the load balancer of AWS
	// which leads to it.
	ClosedToBalancers []ClosedToBalancer
}

// ProviderFacts describes the provider of the capability.
type ProviderFacts struct {
	// Region is the region of the provider, once that exists: it is frozen there.
	Region string
	// Account and Partition are where the provider leads; empty until it is ready.
	Account, Partition string
	// Boundary and RolePath are its permissionsBoundaryARN and rolePathPrefix.
	Boundary, RolePath string
	// ExternalARNs are its allowedExternalARNs.
	ExternalARNs []string
}

// ClusterFacts describes the operator's cluster.
type ClusterFacts struct {
	// ID names the cluster in the tags of AWS resources that Kubernetes controllers create.
	ID string
	// EKSName is the name of the cluster in EKS, and EKSRegion its region; empty while they are not known.
	EKSName, EKSRegion string
	// NoDrain is true on an API server that does not support the preStop hook that drains pods.
	NoDrain bool
}

// Limits are the operator's limits for capabilities.
type Limits struct {
	// AllowedExternalARNs limit the ExternalARNs of providers; none does not.
	AllowedExternalARNs []string
	// ReservedARNs are patterns of the ARNs of the queues that the operator itself reads, and of the roles that it assumes.
	ReservedARNs []string
	// DefaultBoundary is the permissionsBoundaryARN of the provider that is generated for a capability without one; empty
	// is none. The boundary of the provider is then the same.
	DefaultBoundary string
	// AllowedIngressGroups are patterns (path.Match) of the ALB groups that a capability may join.
	AllowedIngressGroups []string
	// NamespaceQuota is the hard limit of the ResourceQuota in a namespace made for workloads; empty is none.
	NamespaceQuota corev1.ResourceList
}

// BalancerFacts describes the load balancer of the capability's Ingress or Gateway.
type BalancerFacts struct {
	// Name is its address; empty until it has one, and for a capability with an Ingress that keeps no records.
	Name string
	// Addresses holds the IP addresses of a load balancer that has no name; Name is then the first of them.
	Addresses []netip.Addr
	// IPAddressType is its IP address type, if IngressClassParams set it, which then override annotations, or a
	// LoadBalancerConfiguration of the Gateway or its class.
	IPAddressType string
}

// ClosedToBalancer is a SecurityIntent that closes a component, where it is bound to it, to the component's load balancer.
type ClosedToBalancer struct {
	Intent    string
	Component nexusv1.Component
	// To completes "the intent lets ... call the component", and Remedy opens the way.
	To, Remedy string
}

// RegionOf returns the region of c, or "" while it depends on a provider that is not known yet.
func (f Facts) RegionOf(c *nexusv1.NexusAICapability) string {
	if r := cmp.Or(f.Provider.Region, c.Spec.Region); r != "" || c.Spec.ProviderRef != nil {
		return r
	}
	return cmp.Or(f.Region, DefaultRegion)
}

// Home is the part of every ARN that comes from the provider, with tokens for values that are not known yet.
type Home struct {
	Partition, Region, Account string
	rolePath                   string
}

// unknownValue begins each text that stands for a value of an object.
const unknownValue = "<known after "

// PlaceholderFor stands in a compiled object for a value that the named object is yet to publish.
func PlaceholderFor(id string) string { return unknownValue + id + ">" }

// HomeOf returns where the resources of c are.
func (f Facts) HomeOf(c *nexusv1.NexusAICapability) Home {
	unknown := PlaceholderFor(KindProvider + "/" + ProviderName(c))
	h := Home{
		Partition: f.Provider.Partition, Region: cmp.Or(f.RegionOf(c), unknown), Account: cmp.Or(f.Provider.Account, unknown),
		rolePath: "/" + strings.TrimPrefix(f.Provider.RolePath, "/"),
	}
	if h.Partition == "" {
		h.Partition = PartitionOf(h.Region)
	}
	return h
}

// PartitionOf names the partition of a region.
// https://docs.aws.amazon.com/whitepapers/latest/aws-fault-isolation-boundaries/partitions.html
func PartitionOf(region string) string {
	switch {
	case strings.HasPrefix(region, "cn-"):
		return "aws-cn"
	case strings.HasPrefix(region, "us-gov-"):
		return "aws-us-gov"
	default:
		return "aws"
	}
}

// ARN names a resource of this account and region.
func (h Home) ARN(service, resource string) string {
	return "arn:" + h.Partition + ":" + service + ":" + h.Region + ":" + h.Account + ":" + resource
}

// BucketARN names a bucket, or objects in it: S3 names are global.
func (h Home) BucketARN(resource string) string { return "arn:" + h.Partition + ":s3:::" + resource }

// AccountARN names something of IAM in this account.
func (h Home) AccountARN(resource string) string {
	return "arn:" + h.Partition + ":iam::" + h.Account + ":" + resource
}

// RoleARN names a role made through the provider.
func (h Home) RoleARN(name string) string {
	return h.AccountARN("role" + h.rolePath + name)
}

// GatewayFacts holds the observed Gateway that a capability's route belongs to.
type GatewayFacts struct {
	// Controller is the controllerName of the GatewayClass that the capability names; empty while it is not known.
	Controller string
	// HTTPS is true if a Gateway of others has a listener for HTTPS.
	HTTPS bool
}

// IdentityFacts describes how pods get credentials.
type IdentityFacts struct {
	// Recorded is status.identity.
	Recorded nexusv1.IdentityStatus
	// AgentReady is true when the EKS Pod Identity Agent is ready on a node, of EKS Auto Mode or with a pod of the agent, or will be on the
	// first one; it is gathered only for a mode Auto that has not chosen.
	AgentReady bool
	// TrustsIssuer and TrustsPodIdentity are true if any role of the workloads declares that trust at present. RoleReady is true if all of
	// them exist, work and declare the same trust.
	TrustsIssuer, TrustsPodIdentity, RoleReady bool
	// Associated is true while a PodIdentityAssociation of the workloads exists.
	Associated bool
	// Rolled is the mode that every Deployment has rolled out completely, with pods that have credentials in that way; empty
	// while there is none.
	Rolled nexusv1.IdentityMode
}
