# SPDX-License-Identifier: Apache-2.0

# A capability shop-dev, and its manifest.
kubectl get namespace shop-dev > /dev/null 2>&1 || kubectl create namespace shop-dev
cat > capability.yaml <<'YAML'
apiVersion: nexus.ai/v1
kind: NexusAICapability
metadata: {name: shop-dev, namespace: shop-dev}
spec:
  capabilityName: shop
  environment: dev
  version: "1.0.0"
  region: ap-southeast-1
  frontend: {replicas: 2, image: "registry.example/frontend:1"}
  backend: {replicas: 2, image: "registry.example/backend:1"}
  dataServices:
    dynamodb: {tables: [{name: carts}]}
    s3: {buckets: [{name: documents}, {name: old}]}
  deletionPolicy: Delete
YAML
kubectl apply -f capability.yaml
kubectl wait ncap/shop-dev -n shop-dev --for=condition=Ready --timeout=60s
