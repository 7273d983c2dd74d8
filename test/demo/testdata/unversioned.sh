# SPDX-License-Identifier: Apache-2.0

# Somebody has suspended the versioning of a bucket of the demo.
aws s3api put-bucket-versioning --bucket myapp-dev-call-data --versioning-configuration Status=Suspended
trap 'nexusctl reconcile s3bucket/myapp-dev-call-data -n myapp-dev --wait > /dev/null' EXIT
