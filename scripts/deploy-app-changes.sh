#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Replaces the pods of a capability; with --build COMPONENT, builds and pushes its image first.
root=$(dirname "$0")/..
PATH=$PATH:$root/bin
exec nexusctl rollout "$@"
