# SPDX-License-Identifier: Apache-2.0

# The capability of the demo goes on afterwards.
trap 'nexusctl resume ncap/myapp-dev -n myapp-dev > /dev/null; kubectl wait -n myapp-dev --for=condition=Ready nexuscapabilities/myapp-dev --timeout=60s > /dev/null' EXIT
