// SPDX-License-Identifier: Apache-2.0

// Package namespace is the namespace of the workloads.
package namespace

import (
	"path"
	"slices"

	corev1 "k8s.io/api/core/v1"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
)

// systemNamespaces holds patterns of namespaces that system components of a cluster use by their documentation or by convention. Service
// accounts there have wide rights, and other components trust or exempt them by their namespace's name, so a tenant must not have the
// operator create one before the component is installed.
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

// StepNamespace is the step of the namespace.
const StepNamespace = "Namespace"

// addQuota limits the resources of a namespace that was created for the workloads: the quotas of the capability's own namespace do not
// apply to it.
func addQuota(k *part.Compiler) {
	if !part.HasQuota(k) {
		return
	}
	o := &corev1.ResourceQuota{Spec: corev1.ResourceQuotaSpec{Hard: k.Facts.Limits.NamespaceQuota.DeepCopy()}}
	k.Workload(part.Child{Kind: part.KindQuota, Name: k.Names.Quota(), Step: StepNamespace, Component: "namespace"}, o)
}

// addNamespace makes the workload namespace when it is not the capability's own, closed to pods that do not
// meet the restricted standard, which the workloads here do.
func addNamespace(k *part.Compiler) {
	if !k.MadeNamespace() {
		return
	}
	o := &corev1.Namespace{}
	o.Labels = map[string]string{"pod-security.kubernetes.io/enforce": "restricted"}
	k.Add(part.Child{Kind: part.KindNamespace, Name: k.Names.WorkloadNamespace(), Step: StepNamespace, Component: "namespace"}, part.CoreV1, o,
		nil)
	addQuota(k)
}

// Part is the namespace of the workloads.
func Part() part.Part {
	return part.Part{
		Steps: []part.Step{{Number: 7, Name: StepNamespace, Phase: nexusv1.PhaseDeploying, Condition: nexusv1.ConditionNamespaceReady}},
		Kinds: []part.KindFacts{
			{Kind: part.KindQuota, Version: part.CoreV1, Step: StepNamespace,
				Removed: part.Removal{Stage: part.RemovesIdentity + 20, Steps: []string{StepNamespace}}},
			{Kind: part.KindNamespace, Version: part.CoreV1, Step: StepNamespace, Removed: part.Removal{Stage: part.RemovesIdentity + 20}},
		},
		Compile: []func(*part.Compiler){addNamespace},
	}
}
