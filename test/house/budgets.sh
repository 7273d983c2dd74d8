#!/usr/bin/env bash
# Measures the production code against the budgets of the design; fails when one is broken.
#   budgets.sh [coverage profile]
set -euo pipefail
cd "$(dirname "$0")/../.."
exec go run ./test/house/budgets ${1:+-coverage "$1"}
