# SPDX-License-Identifier: Apache-2.0

# An EKS cluster my-cluster, in the region of the page and in that of the demo: version 1 of the AWS CLI reads only the latter.
for region in eu-west-1 "$AWS_DEFAULT_REGION"; do
	aws eks create-cluster --region "$region" --name my-cluster --role-arn arn:aws:iam::123456789012:role/eks --resources-vpc-config subnetIds=subnet-1,subnet-2 > /dev/null
done
