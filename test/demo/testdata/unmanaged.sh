# SPDX-License-Identifier: Apache-2.0

# A bucket and a table that no object manages.
aws s3api create-bucket --bucket orders-archive --create-bucket-configuration LocationConstraint="$AWS_DEFAULT_REGION" > /dev/null || true
aws dynamodb describe-table --table-name orders > /dev/null 2>&1 || aws dynamodb create-table --table-name orders --billing-mode PAY_PER_REQUEST \
	--attribute-definitions AttributeName=id,AttributeType=S --key-schema AttributeName=id,KeyType=HASH > /dev/null
