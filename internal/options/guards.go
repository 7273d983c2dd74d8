// SPDX-License-Identifier: Apache-2.0

package options

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
)

// Guards are the limits that administrators set for tenants.
type Guards struct {
	// AmbientNamespaces are patterns of namespaces. Their providers may use the operator's own identity.
	AmbientNamespaces []string
	// CapabilityNamespaces are patterns of namespaces. Their capabilities need no spec.providerRef: the AWSProvider that the operator
	// generates for them uses the operator's own identity.
	CapabilityNamespaces []string
	// DefaultPermissionsBoundary is the ARN of the policy that bounds every role made through a generated AWSProvider,
	// and that allows generated AWSProviders in every namespace; empty is none.
	DefaultPermissionsBoundary string
	// WorkloadNamespaces are patterns of namespaces that the operator may create for the workloads of a capability.
	WorkloadNamespaces []string
	// WorkloadNamespaceQuota is the hard limit of the ResourceQuota in every namespace that the operator created; empty
	// is no ResourceQuota.
	WorkloadNamespaceQuota corev1.ResourceList
	// PlanGate are patterns of namespaces. Edits in them wait until their plans are approved.
	PlanGate []string
	// AllowedEndpoints are patterns of endpoints that a provider may name.
	AllowedEndpoints []string
	// AllowedIngressGroups are patterns of ALB groups that a capability may join.
	AllowedIngressGroups []string
	// AllowedExternalARNs are patterns of ARNs that limit the allowedExternalARNs of AWSProviders; none does not.
	AllowedExternalARNs []string
	// AllowCustomExternalID lets providers choose their ExternalID.
	AllowCustomExternalID bool
	// Types are names and patterns of the AWS resource types that AWSResource objects may manage.
	Types []string
	// SharedNamespaces are namespaces with AWS resources that objects of other namespaces may name: NAMESPACE of this cluster, or
	// CLUSTER-ID/NAMESPACE.
	SharedNamespaces []string
	// ForeignResources are patterns of the ARNs of resources without an owner that objects may name; none allows all.
	ForeignResources []string
}

// addGuardFlags adds the flags for the limits that administrators set for tenants. It returns the unparsed quota.
func addGuardFlags(fs *pflag.FlagSet, g *Guards) (quota *map[string]string) {
	fs.StringSliceVar(&g.AmbientNamespaces, "ambient-namespaces", nil,
		"patterns of namespaces in which an AWSProvider without credentials uses the operator's own AWS identity, also to assume spec.roleARN")
	fs.StringSliceVar(&g.CapabilityNamespaces, "capability-namespaces", nil,
		"patterns of namespaces in which a capability may omit spec.providerRef, so that its generated AWSProvider uses the operator's own AWS identity; includes --ambient-namespaces")
	fs.StringVar(&g.DefaultPermissionsBoundary, "default-permissions-boundary", "",
		"ARN of the IAM policy that is the permissions boundary of every role created through a generated AWSProvider; when set, capabilities in every namespace may omit spec.providerRef")
	fs.StringSliceVar(&g.WorkloadNamespaces, "workload-namespaces", nil,
		"patterns of namespaces that the operator may create for workloads; default: none, workloads run in the namespace of their capability. Namespaces of cluster components, such as kube-* and istio-system, are never created")
	quota = fs.StringToString("workload-namespace-quota", nil,
		"hard limits of the ResourceQuota in each namespace that the operator creates, such as pods=20,requests.cpu=10,requests.memory=20Gi; default: no ResourceQuota")
	fs.StringSliceVar(&g.PlanGate, "plan-gate", nil,
		"patterns of namespaces in which every edit and deletion waits until its plan is approved (nexusctl approve); namespaces with the label nexus.ai/plan-gate=closed need no pattern")
	fs.StringSliceVar(&g.AllowedEndpoints, "allowed-endpoints", nil, "patterns of AWS endpoints that an AWSProvider may set")
	fs.StringSliceVar(&g.AllowedIngressGroups, "allowed-ingress-groups", nil, "patterns of ALB ingress groups that a capability may join")
	fs.StringSliceVar(&g.AllowedExternalARNs, "allowed-external-arns", nil,
		"patterns of ARNs of existing tables, buckets, queues, topics, secrets and roles, such as arn:aws:dynamodb:*:*:table/shared-*, to which spec.allowedExternalARNs of AWSProviders is limited; default: roles are allowed by none, and stores are not limited, because only administrators write AWSProviders")
	fs.BoolVar(&g.AllowCustomExternalID, "allow-custom-external-id", false,
		"allow AWSProviders to set spec.externalID instead of the derived one")
	fs.StringSliceVar(&g.Types, "types", nil,
		"AWS resource types that AWSResource objects may manage, by name or by service, such as AWS::Kinesis::*; types of IAM, CloudFormation, "+
			"Organizations and SSO, types of policies and permissions, and types that have a kind are allowed by their names only; default: none")
	fs.StringSliceVar(&g.SharedNamespaces, "shared-namespaces", nil,
		"namespaces whose AWS resources objects of every namespace may name, as NAMESPACE or CLUSTER-ID/NAMESPACE")
	fs.StringSliceVar(&g.ForeignResources, "foreign-resources", nil,
		"patterns of ARNs of the resources without an owner that objects may name by identifiers, such as arn:aws:ec2:*:*:subnet/*; default: all")
	return quota
}

// boundaryPattern is that of permissionsBoundaryARN of an AWSProvider.
var boundaryPattern = regexp.MustCompile(`^arn:aws[a-z-]*:iam::([0-9]{12}|aws):policy/[!-~]+$`)

// maxARN is the length of an ARN that an AWSProvider may hold.
const maxARN = 2048

// validate checks the flags for the limits that administrators set for tenants.
func (g *Guards) validate() error {
	errs := g.validatePatterns()
	for _, p := range slices.Concat(g.AmbientNamespaces, g.CapabilityNamespaces, g.WorkloadNamespaces, g.AllowedIngressGroups, g.PlanGate) {
		if _, err := path.Match(p, ""); err != nil {
			errs = append(errs, fmt.Errorf("pattern %q is malformed", p))
		}
	}
	for _, e := range g.AllowedEndpoints {
		if !isEndpointPattern(e) {
			errs = append(errs, fmt.Errorf("--allowed-endpoints: %q is not of the form https://host or https://host:port, with * and ? as wildcards", e))
		}
	}
	if b := g.DefaultPermissionsBoundary; b != "" && (len(b) > maxARN || !boundaryPattern.MatchString(b)) {
		errs = append(errs, fmt.Errorf("--default-permissions-boundary: %q is not the ARN of an IAM policy, such as arn:aws:iam::123456789012:policy/boundary", b))
	}
	return errors.Join(errs...)
}

// validatePatterns checks the patterns of types and of ARNs.
func (g *Guards) validatePatterns() (errs []error) {
	for _, t := range g.Types {
		if !typePattern.MatchString(t) {
			errs = append(errs, fmt.Errorf("--types: %q is neither the name of a resource type, such as AWS::Kinesis::Stream, nor the types of a service, such as AWS::Kinesis::*", t))
		}
	}
	for _, p := range g.ForeignResources {
		if !strings.HasPrefix(p, "arn:") {
			errs = append(errs, fmt.Errorf("--foreign-resources: %q is no pattern of an ARN, such as arn:aws:ec2:*:*:subnet/*", p))
		}
	}
	for _, p := range g.AllowedExternalARNs {
		if !iampolicy.IsStorePattern(p, true) {
			errs = append(errs, fmt.Errorf("--allowed-external-arns: %q is no pattern of ARNs of tables, buckets, queues, topics, secrets or roles, such as arn:aws:dynamodb:*:*:table/shared-*", p))
		}
	}
	return errs
}

// typePattern matches the name of a resource type, and all types of a service.
var typePattern = regexp.MustCompile(`^AWS::[A-Za-z0-9]+::([A-Za-z0-9]+|\*)$`)

// quotaNames are the resources that a ResourceQuota limits under a name without a domain:
// https://kubernetes.io/docs/concepts/policy/resource-quotas/
var quotaNames = []corev1.ResourceName{
	corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage,
	corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory, corev1.ResourceRequestsStorage, corev1.ResourceRequestsEphemeralStorage,
	corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory, corev1.ResourceLimitsEphemeralStorage,
	corev1.ResourcePods, corev1.ResourceServices, corev1.ResourceReplicationControllers, corev1.ResourceQuotas, corev1.ResourceSecrets,
	corev1.ResourceConfigMaps, corev1.ResourcePersistentVolumeClaims, corev1.ResourceServicesNodePorts, corev1.ResourceServicesLoadBalancers,
}

// quota parses --workload-namespace-quota. The API server knows further names. All of them have a domain or begin with count/.
func (g *Guards) quota(limits map[string]string) error {
	for name, limit := range limits {
		n := corev1.ResourceName(name)
		if !slices.Contains(quotaNames, n) && !strings.Contains(name, "/") {
			return fmt.Errorf("--workload-namespace-quota: a ResourceQuota cannot limit %q; use a name such as pods, requests.cpu, limits.memory or count/jobs.batch", name)
		}
		q, err := resource.ParseQuantity(limit)
		if err != nil || q.Sign() < 0 {
			return fmt.Errorf("--workload-namespace-quota: %s=%s is not a quantity of at least 0, such as 20, 500m or 4Gi", name, limit)
		}
		if g.WorkloadNamespaceQuota == nil {
			g.WorkloadNamespaceQuota = corev1.ResourceList{}
		}
		g.WorkloadNamespaceQuota[n] = q
	}
	return nil
}

func isEndpointPattern(e string) bool {
	scheme, host, _ := strings.Cut(e, "://")
	_, err := path.Match(host, "")
	return (scheme == "https" || scheme == "http") && host != "" && err == nil && !strings.ContainsAny(host, "/@")
}
