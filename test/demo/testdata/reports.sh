# SPDX-License-Identifier: Apache-2.0

# A bucket reports in namespace default.
kubectl apply -f - <<'YAML'
apiVersion: aws-infra-operator.runner.codes/v1alpha1
kind: AWSProvider
metadata: {name: default}
spec: {region: ap-southeast-1}
---
apiVersion: aws-infra-operator.runner.codes/v1alpha1
kind: S3Bucket
metadata: {name: reports}
spec: {providerRef: {name: default}, bucketName: reports-of-the-page, deletionPolicy: Delete}
YAML
kubectl wait s3bucket/reports --for=condition=Ready --timeout=60s
