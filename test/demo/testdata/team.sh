# SPDX-License-Identifier: Apache-2.0

# A namespace of a team, without the bindings that pages create.
kubectl get namespace team-a > /dev/null 2>&1 || kubectl create namespace team-a
kubectl delete rolebinding pipeline nexus-operator-secrets providers -n team-a --ignore-not-found
kubectl delete clusterrolebinding nexus-platform --ignore-not-found
