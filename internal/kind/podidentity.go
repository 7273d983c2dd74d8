// SPDX-License-Identifier: Apache-2.0

package kind

// PodIdentityService is the service that assumes roles for pods, see
// https://docs.aws.amazon.com/eks/latest/userguide/pod-id-role.html
const PodIdentityService = "pods.eks.amazonaws.com"

// AnyCluster as Federation.EKSCluster allows every cluster: nothing is created for an export.
const AnyCluster = "*"

// WhyNotForPods says why a role may not be given to a ServiceAccount through EKS Pod Identity, with the field of the spec,
// clusterName or namespace, that names it; both are empty when it may. A person may name ServiceAccounts of the operator's
// own cluster and of the object's namespace: other pods would otherwise get the rights of a role that their owners did not
// ask for.
func WhyNotForPods(sc Scope, cluster, namespace string) (field, why string) {
	switch {
	case sc.Trusted || sc.Deleting || sc.Observing:
		return "", ""
	case sc.Federation.EKSCluster == "":
		return "clusterName", "the operator does not know the name of its EKS cluster: start it with --eks-cluster-name (EKS_CLUSTER_NAME)"
	case sc.Federation.EKSCluster != AnyCluster && sc.Federation.EKSCluster != cluster:
		return "clusterName", "a role can be given only to ServiceAccounts of the operator's own cluster, " + sc.Federation.EKSCluster
	case namespace != "" && namespace != sc.Namespace:
		return "namespace", "a role can be given only to ServiceAccounts of the object's own namespace, " + sc.Namespace
	default:
		return "", ""
	}
}
