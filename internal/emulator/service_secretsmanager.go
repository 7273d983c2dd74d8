// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// secretsmanagerService holds what moto does not know of secrets.
type secretsmanagerService struct {
	base
	rotations map[string]rotation // by identity
	cleared   map[string]bool     // identities of secrets whose description was cleared
}

func (s *secretsmanagerService) Facts() *Facts {
	return &Facts{
		Prefix: "secretsmanager",
		Requests: RequestFacts{Targets: []string{"secretsmanager"}, Keys: []string{"SecretId"}, ShortName: func(name string) string {
			return secretSuffix.ReplaceAllString(strings.TrimPrefix(name, "secret:"), "")
		}},
		Errors: ErrorFacts{Missing: map[string]awsError{"": {http.StatusBadRequest, resourceNotFound, "Secrets Manager can't find the specified secret."}}},
		Writes: WriteFacts{TagReads: []tagRead{{op: "DescribeSecret", where: "Tags"}}},
		Names:  map[string]nameRule{"CreateSecret": {"Name", 1, 512, regexp.MustCompile(`^[A-Za-z0-9/_+=.@-]+$`), validation}},
		Rights: RightFacts{
			Namings: map[string]naming{"secretsmanager secret:*": {names: func(q *asker) []string { return []string{secretARN(q)} }}},
			Dependents: []dependent{
				tagging("secretsmanager:CreateSecret", "secretsmanager:TagResource", "secretsmanager secret:*"),
				{action: "secretsmanager:*", needs: "kms", on: keyOfSecret, page: usersOfKeys},
				{action: "secretsmanager:RotateSecret", needs: "lambda:InvokeFunction", with: "RotationLambdaARN",
					page: "https://docs.aws.amazon.com/secretsmanager/latest/userguide/rotating-secrets-required-permissions-function.html",
					on: func(q *asker) []demand {
						return []demand{q.need("lambda:InvokeFunction", text(q.x.json["RotationLambdaARN"]), nil)}
					}},
			},
		},
		Inventory: []inventoryKind{{"secretsmanager/secret", false, listSecrets}},
		Rewrites:  []Rewrite{{Kind: "SecretsManagerSecret", Field: "resourcePolicy", What: rewrittenPolicy, ops: []string{"GetResourcePolicy"}, member: "ResourcePolicy", text: rewritePolicy}},
	}
}

func (s *secretsmanagerService) Corrections() []Correction {
	return []Correction{
		{Name: "secret in its recovery window", Ops: []string{"CreateSecret"}, After: s.secretScheduledForDeletion},
		{Name: "cleared descriptions of secrets", Ops: []string{"CreateSecret", "UpdateSecret", "DescribeSecret"}, After: s.clearedDescription},
		{Name: "rotations of secrets", Ops: []string{"RotateSecret", "CancelRotateSecret"}, Before: s.rotateSecret},
		{Name: "rotations of secrets", Ops: []string{"CreateSecret", "DescribeSecret"}, After: s.showRotation},
		{Name: "public policies of secrets", Ops: []string{"PutResourcePolicy"}, Before: s.refusePublicPolicy},
	}
}

func (s *secretsmanagerService) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rotations, s.cleared = map[string]rotation{}, map[string]bool{}
}

// rotation is that of a secret, as it was asked for.
type rotation struct {
	function string
	rules    any
	enabled  bool
}

// rotateSecret: moto runs the function, in a container, and refuses a function that it does not have. Here the configuration is
// kept, as AWS keeps it when it does not rotate at once.
// https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_RotateSecret.html
func (s *secretsmanagerService) rotateSecret(ctx context.Context, x *exchange) *answer {
	a, secret, err := s.askJSON(ctx, x, "DescribeSecret", map[string]any{"SecretId": x.json["SecretId"]})
	if err != nil || a.status != http.StatusOK {
		return a
	}
	refuse := func(message string) *answer {
		return errorAnswer(x.request, awsError{http.StatusBadRequest, "InvalidRequestException", message})
	}
	if secret["DeletedDate"] != nil {
		return refuse("You can't perform this operation on the secret because it was marked for deletion.")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.identity(x, x.service, x.resource)
	r := s.rotations[id]
	if function := text(x.json["RotationLambdaARN"]); x.op == "RotateSecret" && function != "" {
		r.function = function
	}
	if r.function == "" {
		return refuse("You tried to enable rotation on a secret that doesn't already have a Lambda function ARN configured and you didn't include such an ARN as a parameter in this call.")
	}
	if rules := x.json["RotationRules"]; rules != nil {
		r.rules = rules
	}
	r.enabled = x.op == "RotateSecret"
	s.rotations[id] = r
	body, _ := json.Marshal(map[string]any{"ARN": secret["ARN"], "Name": secret["Name"]})
	return a.withBody(body)
}

// showRotation shows the rotation of a secret, also after it was canceled. A new secret has none.
func (s *secretsmanagerService) showRotation(_ context.Context, x *exchange, a *answer) *answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.identity(x, x.service, x.resource)
	if x.op == "CreateSecret" && a.ok() {
		delete(s.rotations, id)
	}
	r, known := s.rotations[id]
	body, _ := decodeJSON(a.body).(map[string]any)
	if x.op != "DescribeSecret" || !a.ok() || !known || body == nil {
		return a
	}
	body["RotationEnabled"], body["RotationLambdaARN"], body["RotationRules"] = r.enabled, r.function, r.rules
	return a.withJSON(body)
}

// refusePublicPolicy: moto does not read the policy of a secret.
func (s *secretsmanagerService) refusePublicPolicy(_ context.Context, x *exchange) *answer {
	var policy struct{ Statement []map[string]any }
	if json.Unmarshal([]byte(text(x.json["ResourcePolicy"])), &policy) != nil {
		return errorAnswer(x.request, awsError{http.StatusBadRequest, "MalformedPolicyDocumentException", "This resource policy contains invalid JSON."})
	}
	for _, s := range policy.Statement {
		anyone := text(s["Principal"]) == "*" || text(member(s, "Principal.AWS")) == "*"
		if block, _ := x.json["BlockPublicPolicy"].(bool); block && anyone && s["Effect"] == "Allow" && s["Condition"] == nil {
			return errorAnswer(x.request, awsError{http.StatusBadRequest, "PublicPolicyException",
				"You can't attach a resource policy that grants broad access to the secret."})
		}
	}
	return nil
}

// secretScheduledForDeletion: moto says ResourceExistsException of a name in its
// recovery window.
func (s *secretsmanagerService) secretScheduledForDeletion(ctx context.Context, x *exchange, a *answer) *answer {
	if errorCode(a) != "ResourceExistsException" {
		return a
	}
	_, secret, err := s.askJSON(ctx, x, "DescribeSecret", map[string]any{"SecretId": x.json["Name"]})
	if err != nil || secret["DeletedDate"] == nil {
		return a
	}
	return errorAnswer(x.request, awsError{http.StatusBadRequest, "InvalidRequestException",
		"You can't create this secret because a secret with this name is already scheduled for deletion."})
}

// clearedDescription: moto keeps the description of a secret that is to be empty.
func (s *secretsmanagerService) clearedDescription(_ context.Context, x *exchange, a *answer) *answer {
	s.mu.Lock()
	id := s.identity(x, x.service, x.resource)
	description, named := x.json["Description"]
	if x.op != "DescribeSecret" && (named || x.op != "UpdateSecret") {
		s.cleared[id] = x.op == "UpdateSecret" && description == ""
	}
	cleared := s.cleared[id]
	s.mu.Unlock()
	var body map[string]any
	if x.op != "DescribeSecret" || !cleared || a.status != http.StatusOK || json.Unmarshal(a.body, &body) != nil {
		return a
	}
	delete(body, "Description")
	shown, err := json.Marshal(body)
	if err != nil {
		return errorAnswer(x.request, awsError{http.StatusInternalServerError, "ProxyError", err.Error()})
	}
	a.body = shown
	return a
}

// secretSuffix holds what Secrets Manager adds to a name to make the ARN.
var secretSuffix = regexp.MustCompile(`-[A-Za-z0-9]{6}$`)

func listSecrets(ctx context.Context, l *lister) ([]string, error) {
	pages, err := l.json(ctx, "secretsmanager", "secretsmanager.ListSecrets", map[string]any{"IncludePlannedDeletion": true})
	var names []string
	for _, page := range pages {
		secrets, _ := page["SecretList"].([]any)
		for _, s := range secrets {
			secret, _ := s.(map[string]any)
			name := text(secret["Name"])
			if secret["DeletedDate"] != nil {
				name += " (scheduled for deletion)"
			}
			names = append(names, name)
		}
	}
	return names, err
}

// keyOfSecret returns what the key of a secret takes. A change of the key encrypts the versions again.
// https://docs.aws.amazon.com/secretsmanager/latest/userguide/security-encryption.html
func keyOfSecret(q *asker) []demand {
	uses := map[string][]string{"GetSecretValue": {"kms:Decrypt"}, "CreateSecret": {"kms:GenerateDataKey", "kms:Decrypt"},
		"PutSecretValue": {"kms:GenerateDataKey", "kms:Decrypt"}, "UpdateSecret": {"kms:GenerateDataKey", "kms:Decrypt"}}[q.x.op]
	if uses == nil {
		return nil
	}
	key := text(q.x.json["KmsKeyId"])
	if key != "" && q.x.op == "UpdateSecret" {
		uses = append(slices.Clone(uses), "kms:Encrypt")
	}
	if key == "" {
		key = text(q.found(describeSecret, map[string]any{"SecretId": cmp.Or(text(q.x.json["SecretId"]), text(q.x.json["Name"]))}, "KmsKeyId"))
	}
	return throughKMS(q, "secretsmanager", key, map[string]string{"kms:EncryptionContext:SecretARN": secretARN(q)}, uses...)
}

const describeSecret = "secretsmanager.DescribeSecret"

// secretARN is that of the secret which exists, or will, under the name.
func secretARN(q *asker) string {
	id := cmp.Or(text(q.x.json["SecretId"]), text(q.x.json["Name"]))
	if strings.HasPrefix(id, "arn:") {
		return id
	}
	return cmp.Or(text(q.found(describeSecret, map[string]any{"SecretId": id}, "ARN")), q.regional("secret:"+id+"-AbCdEf"))
}
