// SPDX-License-Identifier: Apache-2.0

// Package bedrock holds the emulator's facts and corrections for Amazon Bedrock.
package bedrock

import (
	"regexp"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/emulator/policy"
	"github.com/nexus-operator/nexus-operator/internal/emulator/proxy"
)

// Service keeps nothing. moto has no models; tests divert its requests.
type Service struct{ proxy.Base }

// Facts returns all that the proxy asks of the service.
func (s *Service) Facts() *proxy.Facts {
	return &proxy.Facts{
		Prefix:   "bedrock",
		Requests: proxy.RequestFacts{Decode: decodeBedrock},
		// The reference marks all types as required, but a request names one.
		Rights: proxy.RightFacts{Demands: demandsOnModels},
	}
}

// bedrockPaths lists the paths of the requests that use models, knowledge bases and guardrails.
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_Operations.html
var bedrockPaths = []struct {
	path       *regexp.Regexp
	op, prefix string
}{
	{regexp.MustCompile(`^/model/(.+)/(?:invoke|converse)$`), "InvokeModel", ""},
	{regexp.MustCompile(`^/model/(.+)/(?:invoke-with-response-stream|converse-stream)$`), "InvokeModelWithResponseStream", ""},
	{regexp.MustCompile(`^/knowledgebases/([^/]+)/retrieve$`), "Retrieve", "knowledge-base/"},
	{regexp.MustCompile(`^/guardrail/([^/]+)/version/[^/]+/apply$`), "ApplyGuardrail", "guardrail/"},
}

func decodeBedrock(d *proxy.Request) {
	for _, row := range bedrockPaths {
		if m := row.path.FindStringSubmatch(d.HTTP.URL.Path); m != nil {
			d.Op, d.Resource = row.op, row.prefix+m[1]
		}
	}
}

// profilePattern is the form of the identifiers of cross-region inference profiles.
// https://docs.aws.amazon.com/bedrock/latest/userguide/inference-profiles-support.html
var profilePattern = regexp.MustCompile(`^(us|eu|apac|us-gov|global|jp|au|ca)\.(.+)$`)

// bedrock: who calls a profile also needs the right to the model, through the profile.
func demandsOnModels(q *proxy.Asker) []policy.Demand {
	id, model := q.X.Resource, func(region, id string) string {
		return "arn:" + q.Partition() + ":bedrock:" + region + "::foundation-model/" + id
	}
	switch m := profilePattern.FindStringSubmatch(id); {
	case q.Action != "bedrock:InvokeModel" && q.Action != "bedrock:InvokeModelWithResponseStream":
		return []policy.Demand{q.On(q.Regional(id))}
	case strings.HasPrefix(id, "arn:"):
		return []policy.Demand{q.On(id)}
	case m != nil:
		profile := q.Regional("inference-profile/" + id)
		return []policy.Demand{q.On(profile), q.Need(q.Action, model("us-west-2", m[2]),
			map[string]string{"bedrock:InferenceProfileArn": profile})}
	}
	return []policy.Demand{q.On(model(q.X.Region, id))}
}
