// SPDX-License-Identifier: Apache-2.0

// Package kms holds the emulator's facts and corrections for AWS KMS.
package kms

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/emulator/policy"
	"github.com/nexus-operator/nexus-operator/internal/emulator/proxy"
	"github.com/nexus-operator/nexus-operator/internal/emulator/services/iam"
)

// Service keeps nothing: moto has all that is needed.
type Service struct{ proxy.Base }

// Facts returns all that the proxy asks of the service.
func (s *Service) Facts() *proxy.Facts {
	return &proxy.Facts{
		Prefix: "kms",
		Requests: proxy.RequestFacts{Keys: []string{"KeyId", "AliasName"},
			Reads: []string{"GenerateDataKey", "Encrypt", "Decrypt", "Sign", "Verify"}},
		Errors: proxy.ErrorFacts{Missing: map[string]proxy.Error{"": {Status: http.StatusBadRequest, Code: "NotFoundException",
			Message: "Key '%s' does not exist"}}},
		Writes: proxy.WriteFacts{
			CreatedID: proxy.IDAt(map[string]string{"CreateKey": "KeyMetadata.KeyId"}),
			Data:      []string{"Encrypt", "Decrypt", "GenerateDataKey", "Sign", "Verify"},
			TagReads:  []proxy.TagRead{{Op: "ListResourceTags", Where: "Tags"}},
		},
		Rights: proxy.RightFacts{
			Namings: map[string]proxy.Naming{
				"kms alias/*": {Names: func(q *proxy.Asker) []string { return q.Without("alias/", "AliasName") }},
				"kms key/*":   {Names: namedKeys},
			},
			Dependents: []proxy.Dependent{
				// The reference lists it; the guide says "a policy that isn't restricted to particular KMS keys".
				{Action: "kms:CreateKey", Needs: "kms:TagResource", With: proxy.WithTags},
				iam.Linked("kms:CreateKey", "MultiRegion=true", "mrk.kms"),
				{Action: "kms:CreateKey", Needs: "kms:PutKeyPolicy",
					Never: "KMS checks that the policy lets the caller change it, not that the caller may"},
			},
			TagsOf: func(q *proxy.Asker, arn, _ string) map[string]string { return tagsOfKey(q, arn) },
		},
		Inventory: []proxy.InventoryKind{{Name: "kms/key", Global: false, List: listKeys}},
		Pages:     [2]string{"Marker", "NextMarker"},
		Rewrites: []proxy.Rewrite{{Kind: "KMSKey", Field: "keyPolicy", What: proxy.RewrittenPolicy, Ops: []string{"GetKeyPolicy"},
			Member: "Policy", Text: proxy.RewritePolicy}},
	}
}

// Rights stands for several rights to a key, which depend on the request.
const Rights = "kms"

// Corrections returns the deviations of moto that the service makes up for.
func (s *Service) Corrections() []proxy.Correction {
	return []proxy.Correction{{Name: "keys that are scheduled for deletion or disabled", Before: s.refuseByKeyState}}
}

// changesOfKeys are the operations that KMS refuses for a key that is scheduled for deletion. It refuses those about
// the rotation for disabled keys, too.
// https://docs.aws.amazon.com/kms/latest/developerguide/key-state.html
var changesOfKeys = []string{"TagResource", "UntagResource", "EnableKey", "DisableKey", "UpdateKeyDescription", "CreateAlias",
	"ScheduleKeyDeletion"}

var changesOfRotation = []string{"EnableKeyRotation", "DisableKeyRotation"}

// refuseByKeyState: moto accepts changes of a key in every state.
func (s *Service) refuseByKeyState(ctx context.Context, x *proxy.Exchange) *proxy.Answer {
	rotation := slices.Contains(changesOfRotation, x.Op)
	if !rotation && !slices.Contains(changesOfKeys, x.Op) {
		return nil
	}
	id := x.JSON["KeyId"]
	if x.Op == "CreateAlias" {
		id = x.JSON["TargetKeyId"]
	}
	_, got, err := s.AskJSON(ctx, x, "DescribeKey", map[string]any{"KeyId": id})
	if err != nil {
		return nil
	}
	arn := proxy.Text(proxy.Member(got, "KeyMetadata.Arn"))
	switch state := proxy.Text(proxy.Member(got, "KeyMetadata.KeyState")); {
	case state == "PendingDeletion":
		return x.Refuse(http.StatusBadRequest, "KMSInvalidStateException", arn+" is pending deletion.")
	case state == "Disabled" && rotation:
		return x.Refuse(http.StatusBadRequest, "DisabledException", arn+" is disabled.")
	default:
		return nil
	}
}

// listKeys leaves out the keys that AWS itself keeps in the account (aws/s3 and
// the like), which come with the first use of a service and cannot be deleted.
// moto calls them CUSTOMER keys, but knows their aliases.
func listKeys(ctx context.Context, l *proxy.Lister) ([]string, error) {
	ids, err := proxy.ListJSON("kms", "TrentService.ListKeys", "Keys", "KeyId")(ctx, l)
	if err != nil {
		return nil, err
	}
	pages, err := l.JSON(ctx, "kms", "TrentService.ListAliases", map[string]any{})
	if err != nil {
		return nil, err
	}
	ofAWS := map[string]bool{}
	for _, page := range pages {
		aliases, _ := page["Aliases"].([]any)
		for _, a := range aliases {
			alias, _ := a.(map[string]any)
			if strings.HasPrefix(proxy.Text(alias["AliasName"]), "alias/aws/") {
				ofAWS[proxy.Text(alias["TargetKeyId"])] = true
			}
		}
	}
	return slices.DeleteFunc(ids, func(id string) bool { return ofAWS[id] }), nil
}

// Through are the demands for the use of a key by a service; none for a key of AWS.
func Through(q *proxy.Asker, service, key string, context map[string]string, actions ...string) []policy.Demand {
	if key == "" || len(actions) == 0 || strings.Contains(key, "alias/aws/") || strings.HasSuffix(key, "key/aws-dynamodb") {
		return nil
	}
	switch {
	case strings.HasPrefix(key, "arn:") && !strings.Contains(key, ":alias/"):
	case strings.Contains(key, "alias/"):
		key = cmp.Or(keyOfAlias(q, key), keyARN(q, "of-"+key[strings.LastIndexByte(key, '/')+1:]))
	default:
		key = keyARN(q, key)
	}
	further := map[string]string{"kms:ViaService": service + "." + q.X.Region + "." + wellknown.DNSSuffix(q.Partition())}
	maps.Copy(further, context)
	var out []policy.Demand
	for _, action := range actions {
		d := q.Need(action, key, further)
		if action == "kms:CreateGrant" {
			grant := maps.Clone(further)
			grant["kms:GrantIsForAWSResource"] = "true"
			d = q.Need(action, key, grant)
		}
		out = append(out, d)
	}
	return out
}

func keyARN(q *proxy.Asker, id string) string {
	return "arn:" + q.Partition() + ":kms:" + q.X.Region + ":" + q.Account() + ":key/" + id
}

// keyOfAlias is the ARN of the key that an alias stands for, or "".
func keyOfAlias(q *proxy.Asker, alias string) string {
	pages, err := q.Inside().JSON(q.Ctx, "kms", "TrentService.DescribeKey", map[string]any{"KeyId": alias})
	if err != nil || len(pages) == 0 {
		return ""
	}
	return proxy.Text(proxy.Member(pages[0], "KeyMetadata.Arn"))
}

// tagsOfKey returns the tags of a key. Of a key that the emulator does not have they are those that Limit was given.
func tagsOfKey(q *proxy.Asker, key string) map[string]string {
	pages, err := q.Inside().JSON(q.Ctx, "kms", "TrentService.ListResourceTags", map[string]any{"KeyId": key})
	if err != nil || len(pages) == 0 {
		return q.TagsOfUnknownKeys()
	}
	return proxy.TagsIn(pages[0]["Tags"])
}

// Encrypted is the use of a key that a member names, through a service.
func Encrypted(action, with, service string, uses ...string) proxy.Dependent {
	return proxy.Dependent{Action: action, Needs: Rights, With: with, Page: proxy.UsersOfKeys, On: func(q *proxy.Asker) []policy.Demand {
		var out []policy.Demand
		for _, key := range q.Values(with) {
			out = append(out, Through(q, service, key, nil, uses...)...)
		}
		return out
	}}
}

// namedKeys of KMS are named by identifier, ARN or alias. DeleteAlias names none.
func namedKeys(q *proxy.Asker) []string {
	if alias := proxy.Text(q.X.JSON["AliasName"]); q.X.Op == "DeleteAlias" {
		return []string{proxy.Text(q.Found("TrentService.DescribeKey", map[string]any{"KeyId": alias}, "KeyMetadata.Arn"))}
	}
	return q.Values("KeyId", "TargetKeyId")
}
