# SPDX-License-Identifier: Apache-2.0

# A release of the chart. Some of its objects exist already.
helm status nexus-operator -n nexus-system > /dev/null 2>&1 || helm install nexus-operator charts/nexus-operator -n nexus-system --take-ownership --force-conflicts \
	--set image.repository=registry.example/nexus-operator --set 'tenants.capabilityNamespaces={*}'
kubectl -n nexus-system rollout status deployment/nexus-operator --timeout=60s
