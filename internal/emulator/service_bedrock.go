// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"regexp"
	"strings"
)

// bedrockService keeps nothing. moto has no models; tests divert its requests.
type bedrockService struct{ base }

func (s *bedrockService) Facts() *Facts {
	return &Facts{
		Prefix:   "bedrock",
		Requests: RequestFacts{Decode: decodeBedrock},
		// The reference marks all types as required, of which a request names one.
		Rights: RightFacts{Demands: demandsOnModels},
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

func decodeBedrock(d *request) {
	for _, row := range bedrockPaths {
		if m := row.path.FindStringSubmatch(d.http.URL.Path); m != nil {
			d.op, d.resource = row.op, row.prefix+m[1]
		}
	}
}

// profilePattern is the form of the identifiers of cross-region inference profiles.
// https://docs.aws.amazon.com/bedrock/latest/userguide/inference-profiles-support.html
var profilePattern = regexp.MustCompile(`^(us|eu|apac|us-gov|global|jp|au|ca)\.(.+)$`)

// bedrock: who calls a profile also needs the right to the model, through the profile.
func demandsOnModels(q *asker) []demand {
	id, model := q.x.resource, func(region, id string) string {
		return "arn:" + q.partition() + ":bedrock:" + region + "::foundation-model/" + id
	}
	switch m := profilePattern.FindStringSubmatch(id); {
	case q.action != "bedrock:InvokeModel" && q.action != "bedrock:InvokeModelWithResponseStream":
		return []demand{q.on(q.regional(id))}
	case strings.HasPrefix(id, "arn:"):
		return []demand{q.on(id)}
	case m != nil:
		profile := q.regional("inference-profile/" + id)
		return []demand{q.on(profile), q.need(q.action, model("us-west-2", m[2]), map[string]string{"bedrock:InferenceProfileArn": profile})}
	}
	return []demand{q.on(model(q.x.region, id))}
}
