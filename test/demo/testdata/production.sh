# SPDX-License-Identifier: Apache-2.0

# An AWSProvider that assumes a role in another account.
kubectl apply -f - <<'YAML'
apiVersion: aws-infra-operator.runner.codes/v1alpha1
kind: AWSProvider
metadata: {name: production}
spec: {region: ap-southeast-1, roleARN: "arn:aws:iam::111122223333:role/nexus"}
YAML
kubectl wait awsprovider/production --for=jsonpath='{.status.externalID}' --timeout=60s
