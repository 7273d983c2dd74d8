// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"path"
	"slices"

	corev1 "k8s.io/api/core/v1"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
)

// systemNamespaces are patterns of namespaces in which components of a cluster run by their documentation or by
// convention. Service accounts there have wide rights, and other components trust or exempt them by their namespace's
// name, so a tenant must not have the operator create one before the component is installed.
var systemNamespaces = []string{
	"default", "kube-*", "openshift", "openshift-*", // Kubernetes and its distributions
	"*-system",                   // the convention of kubebuilder: istio-system, flux-system, gatekeeper-system, nexus-system
	"amazon-*", "aws-*", "eks-*", // add-ons of EKS, such as amazon-cloudwatch and aws-observability
	"istio-*", "linkerd", "linkerd-*", // service meshes, with their gateways and CNI plug-ins
	"cert-manager", "cert-manager-*", "external-secrets", "vault", // identities and secrets
	"kyverno", "kubearmor", "gatekeeper", "falco", "trivy-*", // policies and runtime security
	"argo", "argocd", "argo-*", "tekton-*", "tekton-pipelines", "crossplane-*", // delivery
	"ingress-nginx", "nginx-ingress", "external-dns", "cilium", "cilium-*", "calico-*", "tigera-*", // networks
	"karpenter", "keda", "velero", "knative-*", // scaling, backups, serving
	"monitoring", "logging", "observability", "prometheus", "grafana", // telemetry, which scrapes every namespace
}

// IsSystemNamespace reports whether a namespace of that name belongs to a component of the cluster. The operator's own
// namespace is judged by Validate.
func IsSystemNamespace(name string) bool {
	return slices.ContainsFunc(systemNamespaces, func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		return ok && err == nil
	})
}

// Names of the namespace: of its kinds and step.
const (
	kindNamespace = "Namespace"
	kindQuota     = "ResourceQuota"
	StepNamespace = "Namespace"
)

// hasQuota reports whether the workload namespace is the operator's to limit.
func hasQuota(k *compiler) bool { return k.madeNamespace() && len(k.facts.NamespaceQuota) > 0 }

// addQuota limits what runs in a namespace that was made for the workloads: the quotas of the capability's own
// namespace do not reach it.
func addQuota(k *compiler) {
	if !hasQuota(k) {
		return
	}
	o := &corev1.ResourceQuota{Spec: corev1.ResourceQuotaSpec{Hard: k.facts.NamespaceQuota.DeepCopy()}}
	k.workload(child{kindQuota, k.names.Quota(), StepNamespace, "namespace"}, o)
}

// Quota is the ResourceQuota of a namespace that was made for the workloads.
func (n Names) Quota() string { return n.Prefix() + "-quota" }

// Inhabitants is the name of the ResourceQuota that counts the objects in the namespace before it is deleted.
func (n Names) Inhabitants() string { return n.Prefix() + "-inhabitants" }

// addNamespace makes the workload namespace when it is not the capability's own, closed to pods that do not
// meet the restricted standard, which the workloads here do.
func addNamespace(k *compiler) {
	if !k.madeNamespace() {
		return
	}
	o := &corev1.Namespace{}
	o.Labels = map[string]string{"pod-security.kubernetes.io/enforce": "restricted"}
	k.add(child{kindNamespace, k.names.WorkloadNamespace(), StepNamespace, "namespace"}, coreV1, o, nil)
	addQuota(k)
}

// namespacePart is the namespace of the workloads.
func namespacePart() part {
	return part{
		steps: []Step{{7, StepNamespace, nexusv1.PhaseDeploying, nexusv1.ConditionNamespaceReady}},
		kinds: []kindFacts{
			{kind: kindQuota, version: coreV1, step: StepNamespace, removed: removal{stage: removesIdentity + 20, steps: []string{StepNamespace}}},
			{kind: kindNamespace, version: coreV1, step: StepNamespace, removed: removal{stage: removesIdentity + 20}},
		},
		compile: []func(*compiler){addNamespace},
	}
}
