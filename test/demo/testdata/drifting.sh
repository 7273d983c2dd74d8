# SPDX-License-Identifier: Apache-2.0

# A bucket whose versioning somebody has suspended, and whose drift is only reported.
kubectl get namespace team-1 > /dev/null 2>&1 || kubectl create namespace team-1
kubectl apply -f - <<'YAML'
apiVersion: aws-infra-operator.runner.codes/v1alpha1
kind: AWSProvider
metadata: {name: default, namespace: team-1}
spec: {region: ap-southeast-1}
---
apiVersion: aws-infra-operator.runner.codes/v1alpha1
kind: S3Bucket
metadata: {name: drifting, namespace: team-1}
spec: {providerRef: {name: default}, bucketName: team-1-drifting, versioning: {enabled: true}, driftPolicy: Report, deletionPolicy: Delete}
YAML
kubectl wait s3bucket/drifting -n team-1 --for=condition=Ready --timeout=60s
aws s3api put-bucket-versioning --bucket team-1-drifting --versioning-configuration Status=Suspended
