// SPDX-License-Identifier: Apache-2.0

package part

import (
	"strings"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
)

// KindCapability is the kind of capabilities.
const KindCapability = "NexusAICapability"

// Names derives every name of a capability from its capabilityName and environment. An environment has
// no hyphen, so {cap}-{env} belongs to one capability only.
type Names struct{ Capability, Environment string }

// NamesOf returns the names of c.
func NamesOf(c *nexusv1.NexusAICapability) Names {
	return Names{Capability: c.Spec.CapabilityName, Environment: c.Spec.Environment}
}

// ProviderName names the AWSProvider of c: the one it refers to, or the one made for it.
func ProviderName(c *nexusv1.NexusAICapability) string {
	if ref := c.Spec.ProviderRef; ref != nil {
		return ref.Name
	}
	return NamesOf(c).Prefix()
}

// Prefix is {cap}-{env}: the workload namespace, the provider, the parameter set, and the beginning of
// all other names.
func (n Names) Prefix() string { return n.Capability + "-" + n.Environment }

// Of names the object or AWS resource for a purpose.
func (n Names) Of(purpose string) string { return n.Prefix() + "-" + purpose }

// WorkloadNamespace returns the namespace of the workloads.
func (n Names) WorkloadNamespace() string { return n.Prefix() }

// EnvironmentVariable makes a purpose the end of an environment variable's name.
func EnvironmentVariable(purpose string) string {
	return strings.ToUpper(strings.ReplaceAll(purpose, "-", "_"))
}

// Glue names something in the Data Catalog, where hyphens become underscores.
func (n Names) Glue(purpose string) string { return strings.ReplaceAll(n.Of(purpose), "-", "_") }

// GlueDatabase names the database in the Data Catalog.
func (n Names) GlueDatabase() string { return n.Glue("db") }

// Crawler names the crawler.
func (n Names) Crawler() string { return n.Of(CallData + "-crawler") }

// GlueRole names the role of the crawler.
func (n Names) GlueRole() string { return n.Of("glue-role") }

// CallData is the bucket that Glue reads.
const CallData = "call-data"

// AppRole names the role of the workloads.
func (n Names) AppRole() string { return n.Of("app-role") }

// ServiceAccount names the identity of the workloads in Kubernetes.
func (n Names) ServiceAccount() string { return n.Of("app-sa") }

// Ingress names the way in.
func (n Names) Ingress() string { return n.Of("app-ingress") }

// Quota is the ResourceQuota of a namespace that was made for the workloads.
func (n Names) Quota() string { return n.Prefix() + "-quota" }

// Inhabitants is the name of the ResourceQuota that counts the objects in the namespace before it is deleted.
func (n Names) Inhabitants() string { return n.Prefix() + "-inhabitants" }

// ParameterPath is the path of the SSM parameters.
func (n Names) ParameterPath() string { return "/" + n.Capability + "/" + n.Environment }

func providerID(k *Compiler) string { return KindProvider + "/" + k.Names.Prefix() }

// SecretPath is the prefix of the secrets' names.
func (n Names) SecretPath() string { return n.Capability + "/" + n.Environment }

// Secret names the secret for a purpose.
func (n Names) Secret(purpose string) string { return n.SecretPath() + "/" + purpose }

// ServiceRole returns the name of the object of the service role of a resource.
func (n Names) ServiceRole(resource string) string { return n.Of(resource) + ServiceEnding }

// ConfigMap names the settings of the workloads.
func (n Names) ConfigMap() string { return n.Of("config") }

// Service returns the name of the Service that receives the external traffic of a component.
func (n Names) Service(component string) string { return n.Of(component + "-svc") }

// InternalService names the Service of a component for traffic inside the cluster.
func (n Names) InternalService(component string) string { return n.Of(component + "-svc-internal") }
