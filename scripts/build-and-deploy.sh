#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the image of the operator, pushes it and installs it.
root=$(dirname "$0")/..
PATH=$PATH:$root/bin
exec nexusctl e2e --source "$root" --skip-clean --skip-app-build --to-step 4 "$@"
