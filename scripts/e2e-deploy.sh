#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the whole pipeline in seven steps. Step 1 removes an earlier installation of the operator, but refuses while there are capabilities.
root=$(dirname "$0")/..
PATH=$PATH:$root/bin
exec nexusctl e2e --source "$root" --yes "$@"
