#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Plans the manifests of a pull request with nexusctl, writes the plan as its comment, and exits with the code of the check, which
# docs/pull-requests.md lists. It runs in a job of GitHub Actions or GitLab CI, with these variables:
#
#   PLAN_PATH           files and folders with manifests, one a line
#   PLAN_PREVIOUS       a folder with the target branch, in which PLAN_PATH is looked up, too: what is declared only there is planned as deleted
#   PLAN_TOKEN          the token for the API of the forge
#   PLAN_SERVER         true (the default): the operator plans; false: the job plans with its own rights in the cluster and in AWS
#   PLAN_NAMESPACE      the namespace of manifests that name none; without it, that of the kubeconfig
#   PLAN_ALLOW_LABEL    the label with which a plan may delete data; without it, none may
#   PLAN_COMMENT        the key of the comment, for pull requests with several plans; PLAN_PATH by default
#   PLAN_FILE           where the comment is also written; plan.md by default
set -euo pipefail

here=$(dirname "${BASH_SOURCE[0]}")
file=${PLAN_FILE:-plan.md}
label=${PLAN_ALLOW_LABEL:-}
errors=$(mktemp)
trap 'rm -f "$errors"' EXIT

before=${PLAN_PREVIOUS:-}
if [ -n "$before" ] && [ ! -d "$before" ]; then
	echo "plan: PLAN_PREVIOUS: there is no folder $before: check out the target branch into it" >&2
	exit 2
fi
flags=(--recursive --output markdown --fail-on-data-loss)
while IFS= read -r path; do
	[ -z "$path" ] && continue
	flags+=(--filename "$path")
	# A path that the target branch does not have declares nothing there.
	[ -z "$before" ] || [ ! -e "$before/$path" ] || flags+=(--previous "$before/$path")
done <<<"${PLAN_PATH:?names no manifests}"
[ -z "${PLAN_NAMESPACE:-}" ] || flags+=(--namespace "$PLAN_NAMESPACE")
[ "${PLAN_SERVER:-true}" = false ] || flags+=(--server)

code=0
plan=$(nexusctl plan "${flags[@]}" 2>"$errors") || code=$?
cat "$errors" >&2

# verdict prints what the reader of the plan must know before it.
# shellcheck disable=SC2016 # the backquotes are Markdown
verdict() {
	if [ -z "$plan" ]; then
		printf '### The plan could not be made (exit code %d)\n\n' "$code"
		sed 's/^/    /' "$errors" # indented text is shown as it is
	elif [ "$allowed" = yes ]; then
		printf '> [!WARNING]\n> This plan **deletes data**. The label `%s` allows it.\n\n' "$label"
	elif [ "$code" = 5 ] && [ -n "$label" ]; then
		printf '> [!CAUTION]\n> This plan **deletes data**. The check fails until somebody adds the label `%s`.\n\n' "$label"
	elif [ "$code" = 5 ]; then
		printf '> [!CAUTION]\n> This plan **deletes data**, and the check fails.\n\n'
	fi
}

allowed=no
if [ "$code" = 5 ] && [ -n "$label" ]; then
	labeled=0
	"$here/forge.sh" has-label "$label" || labeled=$?
	case $labeled in
	0) allowed=yes ;;
	1) ;;
	*) exit "$labeled" ;;
	esac
fi
{
	verdict
	printf '%s\n' "$plan"
} >"$file"
[ "$allowed" = no ] || code=0

cat "$file"
[ -z "${GITHUB_STEP_SUMMARY:-}" ] || cat "$file" >>"$GITHUB_STEP_SUMMARY"
commented=0
"$here/forge.sh" comment "${PLAN_COMMENT:-$PLAN_PATH}" "$file" || commented=$?
[ "$code" != 0 ] || code=$commented
exit "$code"
