// SPDX-License-Identifier: Apache-2.0

// Package secretsmanager holds the emulator's facts and corrections for AWS Secrets Manager.
package secretsmanager

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/emulator/policy"
	"github.com/nexus-operator/nexus-operator/internal/emulator/proxy"
	"github.com/nexus-operator/nexus-operator/internal/emulator/services/kms"
)

// Service holds the state of secrets that moto lacks.
type Service struct {
	proxy.Base
	rotations map[string]rotation // by identity
	cleared   map[string]bool     // identities of secrets with a cleared description
}

// Facts returns all that the proxy asks of the service.
func (s *Service) Facts() *proxy.Facts {
	return &proxy.Facts{
		Prefix: "secretsmanager",
		Requests: proxy.RequestFacts{Targets: []string{"secretsmanager"}, Keys: []string{"SecretId"}, ShortName: func(name string) string {
			return secretSuffix.ReplaceAllString(strings.TrimPrefix(name, "secret:"), "")
		}},
		Errors: proxy.ErrorFacts{Missing: map[string]proxy.Error{"": {Status: http.StatusBadRequest, Code: proxy.ResourceNotFound,
			Message: "Secrets Manager can't find the specified secret."}}},
		Writes: proxy.WriteFacts{TagReads: []proxy.TagRead{{Op: "DescribeSecret", Where: "Tags"}}},
		Names: map[string]proxy.NameRule{"CreateSecret": {Member: "Name", Min: 1, Max: 512, Pattern: regexp.MustCompile(`^[A-Za-z0-9/_+=.@-]+$`),
			Code: proxy.Validation}},
		Rights: proxy.RightFacts{
			Namings: map[string]proxy.Naming{"secretsmanager secret:*": {Names: func(q *proxy.Asker) []string { return []string{secretARN(q)} }}},
			Dependents: []proxy.Dependent{
				proxy.Tagging("secretsmanager:CreateSecret", "secretsmanager:TagResource", "secretsmanager secret:*"),
				{Action: "secretsmanager:*", Needs: kms.Rights, On: keyOfSecret, Page: proxy.UsersOfKeys},
				{Action: "secretsmanager:RotateSecret", Needs: "lambda:InvokeFunction", With: "RotationLambdaARN",
					Page: "https://docs.aws.amazon.com/secretsmanager/latest/userguide/rotating-secrets-required-permissions-function.html",
					On: func(q *proxy.Asker) []policy.Demand {
						return []policy.Demand{q.Need("lambda:InvokeFunction", proxy.Text(q.X.JSON["RotationLambdaARN"]), nil)}
					}},
			},
		},
		Inventory: []proxy.InventoryKind{{Name: "secretsmanager/secret", Global: false, List: listSecrets}},
		Rewrites: []proxy.Rewrite{{Kind: "SecretsManagerSecret", Field: "resourcePolicy", What: proxy.RewrittenPolicy,
			Ops: []string{"GetResourcePolicy"}, Member: "ResourcePolicy", Text: proxy.RewritePolicy}},
	}
}

// Corrections returns the deviations of moto that the service makes up for.
func (s *Service) Corrections() []proxy.Correction {
	return []proxy.Correction{
		{Name: "secret in its recovery window", Ops: []string{"CreateSecret"}, After: s.secretScheduledForDeletion},
		{Name: "cleared descriptions of secrets", Ops: []string{"CreateSecret", "UpdateSecret", "DescribeSecret"}, After: s.clearedDescription},
		{Name: "rotations of secrets", Ops: []string{"RotateSecret", "CancelRotateSecret"}, Before: s.rotateSecret},
		{Name: "rotations of secrets", Ops: []string{"CreateSecret", "DescribeSecret"}, After: s.showRotation},
		{Name: "public policies of secrets", Ops: []string{"PutResourcePolicy"}, Before: s.refusePublicPolicy},
	}
}

// Reset forgets the state.
func (s *Service) Reset() {
	s.Locked(func() { s.rotations, s.cleared = map[string]rotation{}, map[string]bool{} })
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
func (s *Service) rotateSecret(ctx context.Context, x *proxy.Exchange) *proxy.Answer {
	a, secret, err := s.AskJSON(ctx, x, "DescribeSecret", map[string]any{"SecretId": x.JSON["SecretId"]})
	if err != nil || a.Status != http.StatusOK {
		return a
	}
	refuse := func(message string) *proxy.Answer {
		return x.Refuse(http.StatusBadRequest, "InvalidRequestException", message)
	}
	if secret["DeletedDate"] != nil {
		return refuse("You can't perform this operation on the secret because it was marked for deletion.")
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	id := s.Identity(x, x.Service, x.Resource)
	r := s.rotations[id]
	if function := proxy.Text(x.JSON["RotationLambdaARN"]); x.Op == "RotateSecret" && function != "" {
		r.function = function
	}
	if r.function == "" {
		return refuse("You tried to enable rotation on a secret that doesn't already have a Lambda function ARN configured and you didn't include such an ARN as a parameter in this call.")
	}
	if rules := x.JSON["RotationRules"]; rules != nil {
		r.rules = rules
	}
	r.enabled = x.Op == "RotateSecret"
	s.rotations[id] = r
	body, _ := json.Marshal(map[string]any{"ARN": secret["ARN"], "Name": secret["Name"]})
	return a.WithBody(body)
}

// showRotation shows the rotation of a secret, also after it was canceled. A new secret has none.
func (s *Service) showRotation(_ context.Context, x *proxy.Exchange, a *proxy.Answer) *proxy.Answer {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	id := s.Identity(x, x.Service, x.Resource)
	if x.Op == "CreateSecret" && a.OK() {
		delete(s.rotations, id)
	}
	r, known := s.rotations[id]
	body, _ := proxy.DecodeJSON(a.Body).(map[string]any)
	if x.Op != "DescribeSecret" || !a.OK() || !known || body == nil {
		return a
	}
	body["RotationEnabled"], body["RotationLambdaARN"], body["RotationRules"] = r.enabled, r.function, r.rules
	return a.WithJSON(body)
}

// refusePublicPolicy: moto does not read the policy of a secret.
func (s *Service) refusePublicPolicy(_ context.Context, x *proxy.Exchange) *proxy.Answer {
	var policy struct{ Statement []map[string]any }
	if json.Unmarshal([]byte(proxy.Text(x.JSON["ResourcePolicy"])), &policy) != nil {
		return x.Refuse(http.StatusBadRequest, "MalformedPolicyDocumentException", "This resource policy contains invalid JSON.")
	}
	for _, s := range policy.Statement {
		anyone := proxy.Text(s["Principal"]) == "*" || proxy.Text(proxy.Member(s, "Principal.AWS")) == "*"
		if block, _ := x.JSON["BlockPublicPolicy"].(bool); block && anyone && s["Effect"] == "Allow" && s["Condition"] == nil {
			return x.Refuse(http.StatusBadRequest, "PublicPolicyException",
				"You can't attach a resource policy that grants broad access to the secret.")
		}
	}
	return nil
}

// secretScheduledForDeletion: moto says ResourceExistsException of a name in its
// recovery window.
func (s *Service) secretScheduledForDeletion(ctx context.Context, x *proxy.Exchange, a *proxy.Answer) *proxy.Answer {
	if proxy.ErrorCode(a) != "ResourceExistsException" {
		return a
	}
	_, secret, err := s.AskJSON(ctx, x, "DescribeSecret", map[string]any{"SecretId": x.JSON["Name"]})
	if err != nil || secret["DeletedDate"] == nil {
		return a
	}
	return x.Refuse(http.StatusBadRequest, "InvalidRequestException",
		"You can't create this secret because a secret with this name is already scheduled for deletion.")
}

// clearedDescription: moto keeps the description of a secret that is to be empty.
func (s *Service) clearedDescription(_ context.Context, x *proxy.Exchange, a *proxy.Answer) *proxy.Answer {
	s.Mu.Lock()
	id := s.Identity(x, x.Service, x.Resource)
	description, named := x.JSON["Description"]
	if x.Op != "DescribeSecret" && (named || x.Op != "UpdateSecret") {
		s.cleared[id] = x.Op == "UpdateSecret" && description == ""
	}
	cleared := s.cleared[id]
	s.Mu.Unlock()
	var body map[string]any
	if x.Op != "DescribeSecret" || !cleared || a.Status != http.StatusOK || json.Unmarshal(a.Body, &body) != nil {
		return a
	}
	delete(body, "Description")
	shown, err := json.Marshal(body)
	if err != nil {
		return proxy.ProxyError(x, err)
	}
	a.Body = shown
	return a
}

// secretSuffix matches the suffix that Secrets Manager adds to a name to make the ARN.
var secretSuffix = regexp.MustCompile(`-[A-Za-z0-9]{6}$`)

func listSecrets(ctx context.Context, l *proxy.Lister) ([]string, error) {
	pages, err := l.JSON(ctx, "secretsmanager", "secretsmanager.ListSecrets", map[string]any{"IncludePlannedDeletion": true})
	var names []string
	for _, page := range pages {
		secrets, _ := page["SecretList"].([]any)
		for _, s := range secrets {
			secret, _ := s.(map[string]any)
			name := proxy.Text(secret["Name"])
			if secret["DeletedDate"] != nil {
				name += " (scheduled for deletion)"
			}
			names = append(names, name)
		}
	}
	return names, err
}

// keyOfSecret returns the rights that the key of a secret takes. A change of the key encrypts the versions again.
// https://docs.aws.amazon.com/secretsmanager/latest/userguide/security-encryption.html
func keyOfSecret(q *proxy.Asker) []policy.Demand {
	uses := map[string][]string{"GetSecretValue": {"kms:Decrypt"}, "CreateSecret": {"kms:GenerateDataKey", "kms:Decrypt"},
		"PutSecretValue": {"kms:GenerateDataKey", "kms:Decrypt"}, "UpdateSecret": {"kms:GenerateDataKey", "kms:Decrypt"}}[q.X.Op]
	if uses == nil {
		return nil
	}
	key := proxy.Text(q.X.JSON["KmsKeyId"])
	if key != "" && q.X.Op == "UpdateSecret" {
		uses = append(slices.Clone(uses), "kms:Encrypt")
	}
	if key == "" {
		key = proxy.Text(q.Found(describeSecret, map[string]any{"SecretId": cmp.Or(proxy.Text(q.X.JSON["SecretId"]),
			proxy.Text(q.X.JSON["Name"]))}, "KmsKeyId"))
	}
	return kms.Through(q, "secretsmanager", key, map[string]string{"kms:EncryptionContext:SecretARN": secretARN(q)}, uses...)
}

const describeSecret = "secretsmanager.DescribeSecret"

// secretARN is that of the secret which exists, or will, under the name.
func secretARN(q *proxy.Asker) string {
	id := cmp.Or(proxy.Text(q.X.JSON["SecretId"]), proxy.Text(q.X.JSON["Name"]))
	if strings.HasPrefix(id, "arn:") {
		return id
	}
	return cmp.Or(proxy.Text(q.Found(describeSecret, map[string]any{"SecretId": id}, "ARN")), q.Regional("secret:"+id+"-AbCdEf"))
}
