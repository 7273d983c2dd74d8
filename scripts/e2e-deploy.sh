#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the whole pipeline in seven steps.
root=$(dirname "$0")/..
PATH=$PATH:$root/bin
exec nexusctl e2e --source "$root" "$@"
