// SPDX-License-Identifier: Apache-2.0

package iampolicy

import "testing"

func TestMatchesStore_ComparesPartByPart(t *testing.T) {
	const table = "arn:aws:dynamodb:eu-west-1:111122223333:table/orders-eu"
	for pattern, want := range map[string]bool{
		table: true,
		"arn:aws:dynamodb:eu-west-1:111122223333:table/orders-*": true, "arn:aws:dynamodb:*:111122223333:table/*": true,
		"arn:aws:dynamodb:eu-*:*:table/orders-eu":         true,
		"arn:aws:dynamodb:eu-west-1:999900001111:table/*": false, "arn:aws:dynamodb:eu-west-2:111122223333:table/*": false,
		"arn:aws-cn:dynamodb:eu-west-1:111122223333:table/*": false, "arn:aws:dynamodb:eu-west-1:111122223333:table/order": false,
		"arn:aws:sqs:eu-west-1:111122223333:*": false, "arn:aws:s3:::*": false,
		"*": false, "": false, "arn:aws:*": false, "arn:aws:dynamodb:eu-west-1:1111222233??:table/*": false,
		"arn:aws:dynamodb:eu-west-1:111122223333:*":               false,
		"arn:aws:dynamodb:eu-west-1:111122223333:table/orders-?u": false, "arn:aws:*:eu-west-1:111122223333:table/orders-eu": false,
	} {
		if got := MatchesStore(pattern, table); got != want {
			t.Errorf("%s: %v", pattern, got)
		}
	}
	for pattern, arn := range map[string]string{ // a star of one part reaches into no other
		"arn:aws:s3:::orders*":                 "arn:aws:sqs:eu-west-1:111122223333:orders",
		"arn:aws:sqs:*:111122223333:jobs":      "arn:aws:sqs:eu-west-1:999900001111:111122223333:jobs",
		"arn:aws:sqs:eu-west-1:11112222333*:x": "arn:aws:sqs:eu-west-1:111122223333:x",
	} {
		if MatchesStore(pattern, arn) {
			t.Errorf("%s matches %s", pattern, arn)
		}
	}
}

func TestIsStorePattern_NamesTheAccount(t *testing.T) {
	for pattern, want := range map[string][2]bool{
		"arn:aws:sns:eu-west-1:111122223333:news-*": {true, true}, "arn:aws:s3:::media-*": {true, true},
		"arn:aws:secretsmanager:*:111122223333:secret:a/b-*": {true, true},
		"arn:aws:sns:eu-west-1:*:news":                       {false, true}, "arn:aws:iam::111122223333:role/a/x-*": {true, true},
		"arn:aws:iam::*:role/x":            {false, true},
		"arn:aws:iam::111122223333:user/x": {false, false}, "arn:aws:iam:eu-west-1:111122223333:role/x": {false, false},
		"arn:aws:dynamodb:eu-west-1:111122223333:table/${aws:username}": {false, false},
		"arn:aws:s3:::media/*": {false, false}, "arn:aws:kms:eu-west-1:111122223333:key/x": {false, false},
	} {
		if got := [2]bool{IsStorePattern(pattern, false), IsStorePattern(pattern, true)}; got != want {
			t.Errorf("%s: %v", pattern, got)
		}
	}
}
