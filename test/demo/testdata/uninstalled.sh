# SPDX-License-Identifier: Apache-2.0

# A cluster without the operator's objects and without a release. Only the ServiceAccount stays, because the operator of the demo has its
# token; Helm adopts it.
if kubectl get crd nexuscapabilities.nexus.ai > /dev/null 2>&1; then
	# Those of production would be kept for a day in which their deletion can be undone.
	kubectl get nexuscapabilities -A -o jsonpath='{range .items[*]}{.metadata.namespace} {.metadata.name}{"\n"}{end}' | while read -r namespace name; do
		kubectl patch nexuscapabilities -n "$namespace" "$name" --type merge -p '{"spec": {"deletion": {"graceful": "0s"}}}'
	done
	kubectl delete nexuscapabilities --all -A --timeout=120s
	kubectl delete sib --all -A
	kubectl delete csib,si --all
	kubectl delete aws --all -A --timeout=120s
fi
kubectl delete secret -l owner=helm -n nexus-system
kubectl delete deployment,service,poddisruptionbudget,role,rolebinding --all -n nexus-system
{ kubectl get crd -o name | grep -E '(nexus\.ai|aws-infra-operator\.runner\.codes|intent\.security\.nimbus\.com)$' || true; } | xargs -r kubectl delete
{ kubectl get clusterroles,clusterrolebindings,validatingadmissionpolicies,validatingadmissionpolicybindings -o name | grep /nexus- || true; } | xargs -r kubectl delete
kubectl get serviceaccount nexus-operator -n nexus-system
kubectl annotate --overwrite serviceaccount nexus-operator -n nexus-system meta.helm.sh/release-name=nexus-operator meta.helm.sh/release-namespace=nexus-system
kubectl label --overwrite serviceaccount nexus-operator -n nexus-system app.kubernetes.io/managed-by=Helm
