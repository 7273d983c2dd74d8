#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Calls the API of GitHub or GitLab for the pull request of the running job.
#
#   forge.sh comment KEY FILE     writes a comment, or replaces the one that an earlier run wrote with the same key
#   forge.sh has-label LABEL      exits with 0 if the pull request has the label, and with 1 if it has not
#
# It exits with 4 if the API cannot be reached or refuses. PLAN_TOKEN is the token; PLAN_COMMENT_AUTHOR is the login under which
# GitHub shows comments made with it. All other variables are those of the forge's jobs.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
	echo "plan: $1" >&2
	exit 4
}

# use_github sets what differs between the forges. https://docs.github.com/en/rest/issues/comments
use_github() {
	local number
	number=$(jq -r '.pull_request.number // empty' "$GITHUB_EVENT_PATH")
	[ -n "$number" ] || fail "the event of this job has no pull request: run the job on pull_request"
	pull=$GITHUB_API_URL/repos/$GITHUB_REPOSITORY/issues/$number
	comments=$pull/comments
	comment=$GITHUB_API_URL/repos/$GITHUB_REPOSITORY/issues/comments
	replace=PATCH
	limit=65000 # GitHub refuses more than 65,536 characters
	rights="the job needs the permission pull-requests: write"
	labels='.labels[].name'
	author=.user.login
	me=$(jq -n --arg login "${PLAN_COMMENT_AUTHOR:-github-actions[bot]}" '$login')
	printf 'Authorization: Bearer %s\nAccept: application/vnd.github+json\n' "$PLAN_TOKEN" >"$work/headers"
}

# use_gitlab does the same for GitLab. https://docs.gitlab.com/api/notes/#merge-requests
use_gitlab() {
	[ -n "${CI_MERGE_REQUEST_IID:-}" ] || fail "this job has no merge request: run it in merge request pipelines"
	pull=$CI_API_V4_URL/projects/$CI_PROJECT_ID/merge_requests/$CI_MERGE_REQUEST_IID
	comments=$pull/notes
	comment=$comments
	replace=PUT
	limit=900000 # GitLab refuses more than 1,000,000 characters
	rights="the token needs the scope api, and a role in the project that may comment (Reporter)"
	labels='.labels[]'
	author=.author.id
	me= # asked for when it is needed
	printf 'PRIVATE-TOKEN: %s\n' "$PLAN_TOKEN" >"$work/headers"
}

# call METHOD URL [BODY]: sends a request, and leaves the answer in $work/answer. Only requests that may be repeated are tried again:
# a repeated POST could write a second comment.
call() {
	local method=$1 url=$2 status
	local -a flags=(--silent --show-error --connect-timeout 10 --max-time 60 --request "$method" --header @"$work/headers")
	[ "$method" = POST ] || flags+=(--retry 3 --retry-max-time 60)
	[ -z "${3:-}" ] || flags+=(--header "Content-Type: application/json" --data-binary @"$3")
	: >"$work/answer"
	status=$(curl "${flags[@]}" --output "$work/answer" --write-out '%{http_code}' "$url" 2>"$work/error") ||
		fail "$method $url failed: $(tail -n 1 "$work/error")"
	case $status in
	2??) jq -e type "$work/answer" >/dev/null 2>&1 || fail "$method $url was not answered with JSON: something between the job and the API answers" ;;
	401 | 403 | 404) fail "$method $url was refused: $(reason "$status"): $rights" ;;
	*) fail "$method $url failed: $(reason "$status")" ;;
	esac
}

# reason STATUS: describes the answer to a request that failed.
reason() {
	local text
	text=$(jq -r '.message // .error // empty | tostring' "$work/answer" 2>"$work/error") || text=
	echo "status $1${text:+, $text}"
}

# find_comment KEY: prints the ID of the comment that an earlier run wrote with the key. Only comments of the job's own user count: anybody can
# write a comment with the marker, and would later edit the plan in it.
find_comment() {
	local page=1 id
	if [ -z "$me" ]; then
		call GET "$CI_API_V4_URL/user"
		me=$(jq .id "$work/answer")
	fi
	while true; do
		call GET "$comments?per_page=100&page=$page"
		id=$(jq -r --arg marker "$(marker "$1")" --argjson me "$me" \
			"[.[] | select((.body | startswith(\$marker)) and $author == \$me) | .id][0] // empty" "$work/answer")
		if [ -n "$id" ] || [ "$(jq length "$work/answer")" -lt 100 ]; then
			echo "$id"
			return
		fi
		page=$((page + 1))
	done
}

# marker KEY: prints the first line of a comment, which no reader sees.
marker() {
	local key=${1//$'\n'/ }
	printf '<!-- nexusctl plan: %s -->\n' "${key//--/}"
}

# shortened FILE: prints a plan, without the end of one that is too long for a comment. It cuts between lines, and ends what is open.
shortened() {
	LC_ALL=C awk -v limit="$limit" '
		{ size += length($0) + 1 }
		size > limit {
			if (fence != "") print fence
			if (folded) print "\n</details>"
			print "\nThe plan is too long for a comment: its end is left out. The log of the job has all of it."
			exit
		}
		/^<details>/ { folded = 1 }
		/^<\/details>/ { folded = 0 }
		/^```+text$/ && fence == "" { fence = substr($0, 1, length($0) - 4); print; next }
		$0 == fence { fence = "" }
		{ print }' "$1"
}

write_comment() {
	local id
	id=$(find_comment "$1")
	{
		marker "$1"
		shortened "$2"
	} | jq -Rs '{body: .}' >"$work/body"
	if [ -n "$id" ]; then
		call "$replace" "$comment/$id" "$work/body"
	else
		call POST "$comments" "$work/body"
	fi
}

has_label() {
	call GET "$pull"
	local found
	found=$(jq --arg wanted "$1" "[$labels] | index(\$wanted) != null" "$work/answer") || fail "the labels in the answer to $pull cannot be read"
	[ "$found" = true ]
}

if [ -n "${GITHUB_EVENT_PATH:-}" ]; then
	use_github
elif [ -n "${CI_API_V4_URL:-}" ]; then
	use_gitlab
else
	fail "this is a job of neither GitHub Actions nor GitLab CI"
fi
case ${1:-} in
comment) write_comment "$2" "$3" ;;
has-label) has_label "$2" ;;
*) fail "usage: forge.sh comment KEY FILE, or forge.sh has-label LABEL" ;;
esac
