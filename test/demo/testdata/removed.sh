# SPDX-License-Identifier: Apache-2.0

# The capability of the demo is not there yet.
kubectl delete -f examples/test-capability.yaml --timeout=120s
