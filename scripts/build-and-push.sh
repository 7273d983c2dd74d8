#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the image of the operator and pushes it.
root=$(dirname "$0")/..
PATH=$PATH:$root/bin
exec nexusctl build operator --source "$root" "$@"
