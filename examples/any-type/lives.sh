#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Lets AWSResource objects of this folder live, all or those that are named: edits each, lets another client of AWS change the resource,
# and deletes the object. It prints what AWS shows after each step. The objects must exist; it needs kubectl, nexusctl, jq and the AWS CLI.
set -euo pipefail

resources='aws cloudcontrol'

# shown prints a value of a resource in AWS.
shown() { # TYPE IDENTIFIER JQ
	$resources get-resource --type-name "$1" --identifier "$2" --query ResourceDescription.Properties --output text | jq -c "$3"
}

# becomes waits until AWS shows a value.
becomes() { # TYPE IDENTIFIER JQ VALUE
	for _ in $(seq 60); do
		if [ "$(shown "$1" "$2" "$3")" = "$4" ]; then return; fi
		sleep 1
	done
	echo "$1 $2: $3 is $(shown "$1" "$2" "$3"), want $4" >&2
	return 1
}

# live prints the life of one object.
live() { # NAME EDIT JQ EDITED DRIFT
	local name=$1 edit=$2 path=$3 edited=$4 drift=$5 type id
	kubectl wait "awsresource/$name" --for=condition=Ready --timeout=60s > /dev/null
	type=$(kubectl get awsresource "$name" -o jsonpath='{.spec.typeName}')
	id=$(kubectl get awsresource "$name" -o jsonpath='{.status.identifier}')
	echo "$type $id"
	echo "  created    $path is $(shown "$type" "$id" "$path")"
	kubectl patch awsresource "$name" --type=merge -p "{\"spec\": $edit}" > /dev/null
	becomes "$type" "$id" "$path" "$edited"
	kubectl wait "awsresource/$name" --for=condition=Ready --timeout=60s > /dev/null
	echo "  edited     $path is $edited"
	$resources update-resource --type-name "$type" --identifier "$id" --patch-document "$(shown "$type" "$id" "$drift")" > /dev/null
	for _ in $(seq 30); do
		if [ "$(shown "$type" "$id" "$path")" != "$edited" ]; then break; fi
		sleep 1
	done
	echo "  drifted    $path is $(shown "$type" "$id" "$path")"
	nexusctl reconcile "awsresource/$name" > /dev/null
	becomes "$type" "$id" "$path" "$edited"
	echo "  corrected  $path is $edited"
	kubectl annotate awsresource "$name" --overwrite "nexus.ai/delete-data=$name" > /dev/null
	kubectl delete awsresource "$name" --timeout=60s > /dev/null
	if shown "$type" "$id" . > /dev/null 2>&1; then
		echo "$type $id still exists" >&2
		return 1
	fi
	echo "  deleted"
}

team='.Tags[] | select(.Key == "team").Value'
retagged='[{op: "replace", path: "/Tags", value: (.Tags | map(if .Key == "team" then .Value = "c" else . end))}]'
set_to() { echo "[{op: \"replace\", path: \"$1\", value: $2}]"; }

one() {
	case $1 in
	events) live events '{"properties": {"RetentionPeriodHours": 72}}' .RetentionPeriodHours 72 "$(set_to /RetentionPeriodHours 24)" ;;
	documents) live documents '{"tags": {"team": "b"}}' "$team" '"b"' "$retagged" ;;
	vectors) live vectors '{"tags": {"team": "b"}}' "$team" '"b"' "$retagged" ;;
	memory) live memory '{"properties": {"EventExpiryDuration": 60}}' .EventExpiryDuration 60 "$(set_to /EventExpiryDuration 7)" ;;
	orders) live orders '{"properties": {"DeletionProtectionEnabled": false}}' .DeletionProtectionEnabled false "$(set_to /DeletionProtectionEnabled true)" ;;
	budget) live budget '{"properties": {"Budget": {"BudgetLimit": {"Amount": 300}}}}' .Budget.BudgetLimit.Amount 300 "$(set_to /Budget/BudgetLimit/Amount 100)" ;;
	errors) live errors '{"properties": {"FilterPattern": "FATAL"}}' .FilterPattern '"FATAL"' "$(set_to /FilterPattern '"WARN"')" ;;
	office) live office '{"properties": {"MaxEntries": 10}}' .MaxEntries 10 "$(set_to /MaxEntries 7)" ;;
	many-errors) live many-errors '{"properties": {"Threshold": 20}}' .Threshold 20 "$(set_to /Threshold 99)" ;;
	reports) live reports '{"properties": {"Description": "Reports"}}' .Description '"Reports"' "$(set_to /Description '"none"')" ;;
	*) echo "there is no object $1" >&2 && return 1 ;;
	esac
}

if [ $# = 0 ]; then set -- events documents vectors memory orders budget errors office many-errors reports; fi
for name in "$@"; do one "$name"; done
