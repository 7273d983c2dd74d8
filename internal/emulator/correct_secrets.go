// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"context"
	"encoding/json"
	"net/http"
)

// rotation is that of a secret, as it was asked for.
type rotation struct {
	function string
	rules    any
	enabled  bool
}

// rotateSecret: moto runs the function, in a container, and refuses a function that it does not have. Here the configuration is
// kept, as AWS keeps it when it does not rotate at once.
// https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_RotateSecret.html
func rotateSecret(ctx context.Context, p *Proxy, x *exchange) *answer {
	a, secret, err := p.askJSON(ctx, x, "DescribeSecret", map[string]any{"SecretId": x.json["SecretId"]})
	if err != nil || a.status != http.StatusOK {
		return a
	}
	refuse := func(message string) *answer {
		return errorAnswer(x.request, awsError{http.StatusBadRequest, "InvalidRequestException", message})
	}
	if secret["DeletedDate"] != nil {
		return refuse("You can't perform this operation on the secret because it was marked for deletion.")
	}
	s := &p.state
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
func showRotation(_ context.Context, p *Proxy, x *exchange, a *answer) *answer {
	s := &p.state
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
func refusePublicPolicy(_ context.Context, _ *Proxy, x *exchange) *answer {
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
