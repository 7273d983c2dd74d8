#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Manages the operator: every argument goes to nexusctl.
root=$(dirname "$0")/..
PATH=$PATH:$root/bin
exec nexusctl "$@"
