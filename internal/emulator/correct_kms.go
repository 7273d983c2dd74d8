// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"context"
	"net/http"
	"slices"
)

// changesOfKeys are the operations that KMS refuses for a key that is scheduled for deletion. It refuses those about
// the rotation for disabled keys, too.
// https://docs.aws.amazon.com/kms/latest/developerguide/key-state.html
var changesOfKeys = []string{"TagResource", "UntagResource", "EnableKey", "DisableKey", "UpdateKeyDescription", "CreateAlias", "ScheduleKeyDeletion"}

var changesOfRotation = []string{"EnableKeyRotation", "DisableKeyRotation"}

// refuseByKeyState: moto accepts changes of a key in every state.
func refuseByKeyState(ctx context.Context, p *Proxy, x *exchange) *answer {
	rotation := slices.Contains(changesOfRotation, x.op)
	if !rotation && !slices.Contains(changesOfKeys, x.op) {
		return nil
	}
	id := x.json["KeyId"]
	if x.op == "CreateAlias" {
		id = x.json["TargetKeyId"]
	}
	_, got, err := p.askJSON(ctx, x, "DescribeKey", map[string]any{"KeyId": id})
	if err != nil {
		return nil
	}
	arn := text(member(got, "KeyMetadata.Arn"))
	switch state := text(member(got, "KeyMetadata.KeyState")); {
	case state == "PendingDeletion":
		return errorAnswer(x.request, awsError{http.StatusBadRequest, "KMSInvalidStateException", arn + " is pending deletion."})
	case state == "Disabled" && rotation:
		return errorAnswer(x.request, awsError{http.StatusBadRequest, "DisabledException", arn + " is disabled."})
	default:
		return nil
	}
}
