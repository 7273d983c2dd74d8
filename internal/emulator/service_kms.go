// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
)

// kmsService keeps nothing: moto has all that is needed.
type kmsService struct{ base }

func (s *kmsService) Facts() *Facts {
	return &Facts{
		Prefix:   "kms",
		Requests: RequestFacts{Keys: []string{"KeyId", "AliasName"}},
		Errors:   ErrorFacts{Missing: map[string]awsError{"": {http.StatusBadRequest, "NotFoundException", "Key '%s' does not exist"}}},
		Writes: WriteFacts{
			CreatedID: idAt(map[string]string{"CreateKey": "KeyMetadata.KeyId"}),
			Data:      []string{"Encrypt", "Decrypt", "GenerateDataKey", "Sign", "Verify"},
			TagReads:  []tagRead{{op: "ListResourceTags", where: "Tags"}},
		},
		Rights: RightFacts{
			Namings: map[string]naming{
				"kms alias/*": {names: func(q *asker) []string { return q.without("alias/", "AliasName") }},
				"kms key/*":   {names: namedKeys},
			},
			Dependents: []dependent{
				// The reference lists it; the guide says "a policy that isn't restricted to particular KMS keys".
				{action: "kms:CreateKey", needs: "kms:TagResource", with: withTags},
				linked("kms:CreateKey", "MultiRegion=true", "mrk.kms"),
				{action: "kms:CreateKey", needs: "kms:PutKeyPolicy", never: "KMS checks that the policy lets the caller change it, not that the caller may"},
			},
			TagsOf: func(q *asker, arn, _ string) map[string]string { return tagsOfKey(q, arn) },
		},
		Inventory: []inventoryKind{{"kms/key", false, listKeys}},
		Pages:     [2]string{"Marker", "NextMarker"},
		Rewrites:  []Rewrite{{Kind: "KMSKey", Field: "keyPolicy", What: rewrittenPolicy, ops: []string{"GetKeyPolicy"}, member: "Policy", text: rewritePolicy}},
	}
}

func (s *kmsService) Corrections() []Correction {
	return []Correction{{Name: "keys that are scheduled for deletion or disabled", Before: s.refuseByKeyState}}
}

// changesOfKeys are the operations that KMS refuses for a key that is scheduled for deletion. It refuses those about
// the rotation for disabled keys, too.
// https://docs.aws.amazon.com/kms/latest/developerguide/key-state.html
var changesOfKeys = []string{"TagResource", "UntagResource", "EnableKey", "DisableKey", "UpdateKeyDescription", "CreateAlias", "ScheduleKeyDeletion"}

var changesOfRotation = []string{"EnableKeyRotation", "DisableKeyRotation"}

// refuseByKeyState: moto accepts changes of a key in every state.
func (s *kmsService) refuseByKeyState(ctx context.Context, x *exchange) *answer {
	rotation := slices.Contains(changesOfRotation, x.op)
	if !rotation && !slices.Contains(changesOfKeys, x.op) {
		return nil
	}
	id := x.json["KeyId"]
	if x.op == "CreateAlias" {
		id = x.json["TargetKeyId"]
	}
	_, got, err := s.askJSON(ctx, x, "DescribeKey", map[string]any{"KeyId": id})
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

// listKeys leaves out the keys that AWS itself keeps in the account (aws/s3 and
// the like), which come with the first use of a service and cannot be deleted.
// moto calls them CUSTOMER keys, but knows their aliases.
func listKeys(ctx context.Context, l *lister) ([]string, error) {
	ids, err := listJSON("kms", "TrentService.ListKeys", "Keys", "KeyId")(ctx, l)
	if err != nil {
		return nil, err
	}
	pages, err := l.json(ctx, "kms", "TrentService.ListAliases", map[string]any{})
	if err != nil {
		return nil, err
	}
	ofAWS := map[string]bool{}
	for _, page := range pages {
		aliases, _ := page["Aliases"].([]any)
		for _, a := range aliases {
			alias, _ := a.(map[string]any)
			if strings.HasPrefix(text(alias["AliasName"]), "alias/aws/") {
				ofAWS[text(alias["TargetKeyId"])] = true
			}
		}
	}
	return slices.DeleteFunc(ids, func(id string) bool { return ofAWS[id] }), nil
}

// throughKMS are the demands for the use of a key by a service; none for a key of AWS.
func throughKMS(q *asker, service, key string, context map[string]string, actions ...string) []demand {
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
	further := map[string]string{"kms:ViaService": service + "." + q.x.region + "." + wellknown.DNSSuffix(q.partition())}
	maps.Copy(further, context)
	var out []demand
	for _, action := range actions {
		d := q.need(action, key, further)
		if action == "kms:CreateGrant" {
			grant := maps.Clone(further)
			grant["kms:GrantIsForAWSResource"] = "true"
			d = q.need(action, key, grant)
		}
		out = append(out, d)
	}
	return out
}

func keyARN(q *asker, id string) string {
	return "arn:" + q.partition() + ":kms:" + q.x.region + ":" + q.account() + ":key/" + id
}

// keyOfAlias is the ARN of the key that an alias stands for, or "".
func keyOfAlias(q *asker, alias string) string {
	pages, err := q.inside().json(q.ctx, "kms", "TrentService.DescribeKey", map[string]any{"KeyId": alias})
	if err != nil || len(pages) == 0 {
		return ""
	}
	return text(member(pages[0], "KeyMetadata.Arn"))
}

// tagsOfKey returns the tags of a key. Of a key that the emulator does not have they are those that Limit was given.
func tagsOfKey(q *asker, key string) map[string]string {
	pages, err := q.inside().json(q.ctx, "kms", "TrentService.ListResourceTags", map[string]any{"KeyId": key})
	if err != nil || len(pages) == 0 {
		return q.p.callers.tagsOfUnknownKeys(q.x.accessKey)
	}
	return tagsIn(pages[0]["Tags"])
}

// encrypted is the use of a key that a member names, through a service.
func encrypted(action, with, service string, uses ...string) dependent {
	return dependent{action: action, needs: "kms", with: with, page: usersOfKeys, on: func(q *asker) []demand {
		var out []demand
		for _, key := range q.values(with) {
			out = append(out, throughKMS(q, service, key, nil, uses...)...)
		}
		return out
	}}
}

// namedKeys of KMS are named by identifier, ARN or alias. DeleteAlias names none.
func namedKeys(q *asker) []string {
	if alias := text(q.x.json["AliasName"]); q.x.op == "DeleteAlias" {
		return []string{text(q.found("TrentService.DescribeKey", map[string]any{"KeyId": alias}, "KeyMetadata.Arn"))}
	}
	return q.values("KeyId", "TargetKeyId")
}
