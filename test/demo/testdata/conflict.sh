# SPDX-License-Identifier: Apache-2.0

# A capability with a bucket that exists and belongs to nobody.
kubectl get namespace forum-dev > /dev/null 2>&1 || kubectl create namespace forum-dev
aws s3api head-bucket --bucket forum-dev-call-data 2> /dev/null ||
	aws s3api create-bucket --bucket forum-dev-call-data --create-bucket-configuration LocationConstraint="$AWS_DEFAULT_REGION"
sed s/myapp/forum/g examples/test-capability.yaml | kubectl apply -f -
kubectl wait ncap/forum-dev -n forum-dev --for=condition=Stalled --timeout=60s
