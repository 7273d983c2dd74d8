# SPDX-License-Identifier: Apache-2.0

# The capability of the page.
kubectl get namespace portal-dev > /dev/null 2>&1 || kubectl create namespace portal-dev
kubectl apply -f examples/capability-with-cognito.yaml
kubectl wait -n portal-dev --for=create cognitouserpool/portal-dev-users --timeout=60s
kubectl wait -n portal-dev --for=condition=Ready cognitouserpool/portal-dev-users --timeout=60s
