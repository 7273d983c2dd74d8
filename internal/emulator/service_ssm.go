// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// ssmService holds what moto does not know of Parameter Store.
type ssmService struct {
	base
	raised    bool            // its higher throughput is on
	preparing sync.Mutex      // held while the tags of a Parameter Store are prepared
	prepared  map[string]bool // access key and region → they are
}

func (s *ssmService) Facts() *Facts {
	return &Facts{
		Prefix:   "ssm",
		Requests: RequestFacts{Targets: []string{"AmazonSSM"}, ShortName: func(name string) string { return strings.TrimPrefix(name, "parameter") }},
		Errors: ErrorFacts{
			Missing: map[string]awsError{
				"":                    {http.StatusBadRequest, "ParameterNotFound", "Parameter %s not found."},
				"ListTagsForResource": {http.StatusBadRequest, "InvalidResourceId", "The resource ID %s is not valid. Verify that you entered the correct ID and try again."},
			},
			Hide: hideParameters,
		},
		Writes: WriteFacts{
			Creates:  func(x *exchange) bool { return x.op == "PutParameter" && x.json["Overwrite"] != true },
			TagReads: []tagRead{{op: "ListTagsForResource", where: "TagList"}},
		},
		Names: map[string]nameRule{"PutParameter": {"Name", 1, 1011, regexp.MustCompile(`^[A-Za-z0-9/_.-]+$`), validation}},
		CheckName: func(x *exchange) *answer {
			if x.op != "PutParameter" {
				return nil
			}
			return badParameterName(x, text(x.json["Name"]))
		},
		Rights: RightFacts{
			Namings: map[string]naming{
				"ssm parameter/*":      {names: func(q *asker) []string { return q.without("/", "Name", "Names", "ResourceId", "Path") }},
				"ssm servicesetting/*": {names: func(q *asker) []string { return q.without("/", "SettingId") }},
			},
			Dependents: []dependent{
				tagging("ssm:PutParameter", "ssm:AddTagsToResource", "ssm parameter/*"),
				{action: "ssm:PutParameter", needs: "kms", with: "KeyId", page: usersOfKeys, on: func(q *asker) []demand {
					use := map[bool]string{true: "kms:GenerateDataKey", false: "kms:Encrypt"}[text(q.x.json["Tier"]) == "Advanced"]
					return throughKMS(q, "ssm", text(q.x.json["KeyId"]), nil, use)
				}},
				{action: "ssm:GetParameter*", needs: "kms", with: "WithDecryption=true", page: usersOfKeys, on: keysOfParameters},
			},
			TagsOf: func(q *asker, arn, _ string) map[string]string {
				name := "/" + strings.TrimPrefix(strings.SplitN(arn, ":", 6)[5], "parameter/")
				return tagsIn(q.found("AmazonSSM.ListTagsForResource", map[string]any{"ResourceType": "Parameter", "ResourceId": name}, "TagList"))
			},
		},
		Inventory: []inventoryKind{{"ssm/parameter", false, listJSON("ssm", "AmazonSSM.DescribeParameters", "Parameters", "Name")}},
	}
}

func (s *ssmService) Corrections() []Correction {
	return []Correction{
		{Name: "the throughput of Parameter Store can be read", Ops: []string{"GetServiceSetting"}, Before: s.throughputSetting},
		{Name: "tags of the first parameters", Ops: []string{"PutParameter", "AddTagsToResource", "ListTagsForResource"}, Before: s.prepareParameterTags},
	}
}

func (s *ssmService) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.raised, s.prepared = false, map[string]bool{}
}

// throughputSetting: moto has no service settings. This one is always there in AWS; others are left to moto.
func (s *ssmService) throughputSetting(_ context.Context, x *exchange) *answer {
	const id = "/ssm/parameter-store/high-throughput-enabled"
	if x.json["SettingId"] != id {
		return nil
	}
	s.mu.Lock()
	value, status := "false", "Default"
	if s.raised {
		value, status = "true", "Customized"
	}
	s.mu.Unlock()
	body := fmt.Appendf(nil, `{"ServiceSetting":{"SettingId":%q,"SettingValue":%q,"Status":%q,"ARN":"arn:aws:ssm:%s:%s:servicesetting%s"}}`,
		id, value, status, x.region, defaultAccount, id)
	return &answer{http.StatusOK, http.Header{"Content-Type": {"application/x-amz-json-1.1"}}, body}
}

// prepareParameterTags: moto makes the table of all parameters' tags at its first use, and two requests that do so at the same time
// make two, of which one is lost with the tags in it. The proxy makes the table before the first request of an account and region,
// to the end even if the client does not wait: a request that moto still works on would replace the table later.
func (s *ssmService) prepareParameterTags(ctx context.Context, x *exchange) *answer {
	s.preparing.Lock()
	defer s.preparing.Unlock()
	place := x.accessKey + " " + x.region
	if s.isPrepared(place) {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	name := "/emulator-prepares-tags"
	_, _, err := s.askJSON(ctx, x, "PutParameter", map[string]any{"Name": name, "Value": "-", "Type": "String", "Tags": []map[string]string{{"Key": "k", "Value": "v"}}})
	if err == nil {
		_, _, err = s.askJSON(ctx, x, "DeleteParameter", map[string]any{"Name": name})
	}
	s.setPrepared(place, err == nil)
	return nil
}

func (s *ssmService) isPrepared(place string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.prepared[place]
}

func (s *ssmService) setPrepared(place string, done bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prepared[place] = done
}

// SetHigherThroughput turns Parameter Store's higher throughput on or off, as far as its setting shows.
func (s *ssmService) SetHigherThroughput(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.raised = on
}

// badParameterName knows the rules of Parameter Store that are no pattern.
func badParameterName(x *exchange, name string) *answer {
	first := strings.ToLower(strings.TrimPrefix(name, "/"))
	switch {
	case strings.HasPrefix(first, "aws") || strings.HasPrefix(first, "ssm"):
		return errorAnswer(x.request, awsError{http.StatusBadRequest, validation, `Parameter name: can't be prefixed with "aws" or "ssm" (case-insensitive).`})
	case strings.Contains(name, "/") && !strings.HasPrefix(name, "/"):
		return errorAnswer(x.request, awsError{http.StatusBadRequest, validation, "Parameter name must be a fully qualified name."})
	case strings.Count(name, "/") > 15:
		return errorAnswer(x.request, awsError{http.StatusBadRequest, "HierarchyLevelLimitExceededException", "Parameter hierarchies are limited to 15 levels."})
	}
	return nil
}

// hideParameters answers a read of several parameters as if some of them did not exist.
func hideParameters(d *request, a *answer, names []string) *answer {
	if d.op != "GetParameters" || !a.ok() {
		return nil
	}
	var body struct {
		Parameters        []map[string]any
		InvalidParameters []string
	}
	if json.Unmarshal(a.body, &body) != nil {
		return a
	}
	hidden := func(parameter map[string]any) bool { return slices.Contains(names, text(parameter["Name"])) }
	body.Parameters = slices.DeleteFunc(body.Parameters, hidden)
	for _, name := range names {
		if !slices.Contains(body.InvalidParameters, name) {
			body.InvalidParameters = append(body.InvalidParameters, name)
		}
	}
	return a.withJSON(body)
}

// keysOfParameters returns what the keys of parameters take to show their values.
func keysOfParameters(q *asker) []demand {
	var out []demand
	for _, name := range q.values("Name", "Names") {
		request := map[string]any{"ParameterFilters": []any{map[string]any{"Key": "Name", "Option": "Equals", "Values": []string{name}}}}
		out = append(out, throughKMS(q, "ssm", text(q.found("AmazonSSM.DescribeParameters", request, "Parameters.0.KeyId")), nil, "kms:Decrypt")...)
	}
	return out
}
