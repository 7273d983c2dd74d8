# SPDX-License-Identifier: Apache-2.0

# The manifest with a replica and a table more and a bucket less.
sed -i -e 's/backend: {replicas: 2/backend: {replicas: 3/' -e 's/{name: carts}/&, {name: orders}/' -e 's/, {name: old}//' capability.yaml
