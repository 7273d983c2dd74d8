# SPDX-License-Identifier: Apache-2.0

# The kinds of the Prometheus operator, without their schemas.
for plural in servicemonitors prometheusrules; do
	kind=ServiceMonitor
	if [ $plural = prometheusrules ]; then kind=PrometheusRule; fi
	kubectl apply -f - <<YAML
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: $plural.monitoring.coreos.com}
spec:
  group: monitoring.coreos.com
  scope: Namespaced
  names: {plural: $plural, kind: $kind}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
YAML
	kubectl wait --for=condition=Established crd/$plural.monitoring.coreos.com
done
