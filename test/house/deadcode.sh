#!/usr/bin/env bash
# Fails when a function cannot be reached from any command, unless test/house/deadcode.txt lists it with a reason. The argument is
# the deadcode tool.
set -euo pipefail
cd "$(dirname "$0")/../.."
tool=$1

dead() { "$tool" -f '{{$path := .Path}}{{range .Funcs}}{{println $path .Name}}{{end}}' "$@" | sed -E 's/ /./; /^$/d' | sort; }

# The check itself works: it reports the function of a sample.
if ! dead ./test/house/testdata/deadcode | grep -q '\.neverCalled$'; then
	echo 'the check for dead code does not report a function that nothing calls' >&2
	exit 1
fi

# Test harnesses are reached from tests only.
found=$(dead ./cmd/... ./test/demo/... ./config/... ./internal/devworld/... ./internal/metrics/document ./internal/status/document | grep -vE '/internal/(emulator|testkit|kindtest)' || true)
allowed=$(grep -vE '^(#|$)' test/house/deadcode.txt | sort)
if ! diff <(echo "$allowed") <(echo "$found"); then
	echo 'functions that no command reaches (>), or that test/house/deadcode.txt lists and that are reached or gone (<)' >&2
	exit 1
fi
