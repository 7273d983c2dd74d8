// SPDX-License-Identifier: Apache-2.0

// Package ssm holds the emulator's facts and corrections for the Parameter Store of AWS Systems Manager.
package ssm

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/nexus-operator/nexus-operator/internal/emulator/policy"
	"github.com/nexus-operator/nexus-operator/internal/emulator/proxy"
	"github.com/nexus-operator/nexus-operator/internal/emulator/services/kms"
)

// Service holds the state of Parameter Store that moto lacks.
type Service struct {
	proxy.Base
	raised    bool            // its higher throughput is on
	preparing sync.Mutex      // held while the tags of a Parameter Store are prepared
	prepared  map[string]bool // access key and region → they are
}

// Facts returns all that the proxy asks of the service.
func (s *Service) Facts() *proxy.Facts {
	return &proxy.Facts{
		Prefix: "ssm",
		Requests: proxy.RequestFacts{Targets: []string{"AmazonSSM"},
			ShortName: func(name string) string { return strings.TrimPrefix(name, "parameter") }},
		Errors: proxy.ErrorFacts{
			Missing: map[string]proxy.Error{
				"": {Status: http.StatusBadRequest, Code: "ParameterNotFound", Message: "Parameter %s not found."},
				"ListTagsForResource": {Status: http.StatusBadRequest, Code: "InvalidResourceId",
					Message: "The resource ID %s is not valid. Verify that you entered the correct ID and try again."},
			},
			Hide: hideParameters,
		},
		Writes: proxy.WriteFacts{
			Creates:  func(x *proxy.Exchange) bool { return x.Op == "PutParameter" && x.JSON["Overwrite"] != true },
			TagReads: []proxy.TagRead{{Op: "ListTagsForResource", Where: "TagList"}},
		},
		Names: map[string]proxy.NameRule{"PutParameter": {Member: "Name", Min: 1, Max: 1011, Pattern: regexp.MustCompile(`^[A-Za-z0-9/_.-]+$`),
			Code: proxy.Validation}},
		CheckName: func(x *proxy.Exchange) *proxy.Answer {
			if x.Op != "PutParameter" {
				return nil
			}
			return badParameterName(x, proxy.Text(x.JSON["Name"]))
		},
		Rights: proxy.RightFacts{
			Namings: map[string]proxy.Naming{
				"ssm parameter/*":      {Names: func(q *proxy.Asker) []string { return q.Without("/", "Name", "Names", "ResourceId", "Path") }},
				"ssm servicesetting/*": {Names: func(q *proxy.Asker) []string { return q.Without("/", "SettingId") }},
			},
			Dependents: []proxy.Dependent{
				proxy.Tagging("ssm:PutParameter", "ssm:AddTagsToResource", "ssm parameter/*"),
				{Action: "ssm:PutParameter", Needs: kms.Rights, With: "KeyId", Page: proxy.UsersOfKeys, On: func(q *proxy.Asker) []policy.Demand {
					use := map[bool]string{true: "kms:GenerateDataKey", false: "kms:Encrypt"}[proxy.Text(q.X.JSON["Tier"]) == "Advanced"]
					return kms.Through(q, "ssm", proxy.Text(q.X.JSON["KeyId"]), nil, use)
				}},
				{Action: "ssm:GetParameter*", Needs: kms.Rights, With: "WithDecryption=true", Page: proxy.UsersOfKeys, On: keysOfParameters},
			},
			TagsOf: func(q *proxy.Asker, arn, _ string) map[string]string {
				name := "/" + strings.TrimPrefix(strings.SplitN(arn, ":", 6)[5], "parameter/")
				return proxy.TagsIn(q.Found("AmazonSSM.ListTagsForResource",
					map[string]any{"ResourceType": "Parameter", "ResourceId": name}, "TagList"))
			},
		},
		Inventory: []proxy.InventoryKind{{Name: "ssm/parameter", Global: false,
			List: proxy.ListJSON("ssm", "AmazonSSM.DescribeParameters", "Parameters", "Name")}},
	}
}

// Corrections returns the deviations of moto that the service makes up for.
func (s *Service) Corrections() []proxy.Correction {
	return []proxy.Correction{
		{Name: "the throughput of Parameter Store can be read", Ops: []string{"GetServiceSetting"}, Before: s.throughputSetting},
		{Name: "tags of the first parameters",
			Ops: []string{"PutParameter", "AddTagsToResource", "ListTagsForResource"}, Before: s.prepareParameterTags},
	}
}

// Reset forgets the state.
func (s *Service) Reset() { s.Locked(func() { s.raised, s.prepared = false, map[string]bool{} }) }

// throughputSetting: moto has no service settings. This one is always there in AWS; others are left to moto.
func (s *Service) throughputSetting(_ context.Context, x *proxy.Exchange) *proxy.Answer {
	const id = "/ssm/parameter-store/high-throughput-enabled"
	if x.JSON["SettingId"] != id {
		return nil
	}
	s.Mu.Lock()
	value, status := "false", "Default"
	if s.raised {
		value, status = "true", "Customized"
	}
	s.Mu.Unlock()
	body := fmt.Appendf(nil, `{"ServiceSetting":{"SettingId":%q,"SettingValue":%q,"Status":%q,"ARN":"arn:aws:ssm:%s:%s:servicesetting%s"}}`,
		id, value, status, x.Region, proxy.DefaultAccount, id)
	return &proxy.Answer{Status: http.StatusOK, Header: http.Header{"Content-Type": {"application/x-amz-json-1.1"}}, Body: body}
}

// prepareParameterTags: moto makes the table of all parameters' tags at its first use. Two requests that do so at the same time make two
// tables. One of the two is lost with the tags in it. The proxy makes the table before the first request of an account and region, to the
// end even if the client does not wait: a request that moto still works on would replace the table later.
func (s *Service) prepareParameterTags(ctx context.Context, x *proxy.Exchange) *proxy.Answer {
	s.preparing.Lock()
	defer s.preparing.Unlock()
	place := x.AccessKey + " " + x.Region
	if s.isPrepared(place) {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	name := "/emulator-prepares-tags"
	_, _, err := s.AskJSON(ctx, x, "PutParameter", map[string]any{"Name": name, "Value": "-", "Type": "String",
		"Tags": []map[string]string{{"Key": "k", "Value": "v"}}})
	if err == nil {
		_, _, err = s.AskJSON(ctx, x, "DeleteParameter", map[string]any{"Name": name})
	}
	s.setPrepared(place, err == nil)
	return nil
}

func (s *Service) isPrepared(place string) bool {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.prepared[place]
}

func (s *Service) setPrepared(place string, done bool) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.prepared[place] = done
}

// SetHigherThroughput turns Parameter Store's higher throughput on or off, as far as its setting shows.
func (s *Service) SetHigherThroughput(on bool) { s.Locked(func() { s.raised = on }) }

// badParameterName knows the rules of Parameter Store that are no pattern.
func badParameterName(x *proxy.Exchange, name string) *proxy.Answer {
	first := strings.ToLower(strings.TrimPrefix(name, "/"))
	switch {
	case strings.HasPrefix(first, "aws") || strings.HasPrefix(first, "ssm"):
		return x.Refuse(http.StatusBadRequest, proxy.Validation, `Parameter name: can't be prefixed with "aws" or "ssm" (case-insensitive).`)
	case strings.Contains(name, "/") && !strings.HasPrefix(name, "/"):
		return x.Refuse(http.StatusBadRequest, proxy.Validation, "Parameter name must be a fully qualified name.")
	case strings.Count(name, "/") > 15:
		return x.Refuse(http.StatusBadRequest, "HierarchyLevelLimitExceededException", "Parameter hierarchies are limited to 15 levels.")
	}
	return nil
}

// hideParameters answers a read of several parameters as if some of them did not exist.
func hideParameters(d *proxy.Request, a *proxy.Answer, names []string) *proxy.Answer {
	if d.Op != "GetParameters" || !a.OK() {
		return nil
	}
	var body struct {
		Parameters        []map[string]any
		InvalidParameters []string
	}
	if json.Unmarshal(a.Body, &body) != nil {
		return a
	}
	hidden := func(parameter map[string]any) bool { return slices.Contains(names, proxy.Text(parameter["Name"])) }
	body.Parameters = slices.DeleteFunc(body.Parameters, hidden)
	for _, name := range names {
		if !slices.Contains(body.InvalidParameters, name) {
			body.InvalidParameters = append(body.InvalidParameters, name)
		}
	}
	return a.WithJSON(body)
}

// keysOfParameters returns the rights that the keys of parameters take to show their values.
func keysOfParameters(q *proxy.Asker) []policy.Demand {
	var out []policy.Demand
	for _, name := range q.Values("Name", "Names") {
		request := map[string]any{"ParameterFilters": []any{map[string]any{"Key": "Name", "Option": "Equals", "Values": []string{name}}}}
		out = append(out, kms.Through(q, "ssm", proxy.Text(q.Found("AmazonSSM.DescribeParameters", request, "Parameters.0.KeyId")), nil,
			"kms:Decrypt")...)
	}
	return out
}
