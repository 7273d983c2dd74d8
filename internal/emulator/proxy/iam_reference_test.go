// SPDX-License-Identifier: Apache-2.0

package proxy_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/emulator/proxy"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/testkit/awsmodels"
)

// emulated returns a proxy with all services and without a moto.
func emulated(t *testing.T) *proxy.Proxy {
	t.Helper()
	p, err := emulator.Start("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p.Proxy
}

// calledActions are the actions of the operations that the operator calls.
func calledActions(t *testing.T, p *proxy.Proxy) []string {
	t.Helper()
	called, err := awsmodels.Called("../../..")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for service, operations := range called {
		for _, op := range operations {
			out = append(out, p.ActionOf(kind.IAMPrefix(service), op))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// noRight are calls that need no right in AWS, or one of another name.
var noRight = map[string]string{"sts:GetCallerIdentity": "takes no right"}

func TestDemands_EveryCallHasResourcesOrADecision(t *testing.T) {
	p := emulated(t)
	actions, covered := calledActions(t, p), 0
	for _, action := range actions {
		a, known := proxy.Reference().Actions[action]
		if !known && noRight[action] == "" {
			t.Errorf("%s is no action of the reference: run make awsmodels, or write down why", action)
		}
		for _, template := range a.Resources {
			kind := proxy.TypeOf(template)
			if _, named := p.NamingOf(kind); !named && strings.Contains(kind, "*") && p.NotNamed(action, kind) == "" &&
				p.FactsOf(strings.Split(action, ":")[0]).Rights.Demands == nil {
				t.Errorf("%s needs a resource of the type %q: say in Namings of its service how a request names it, or in NotNamed why it does not",
					action, kind)
			}
			covered++
		}
		isNamed := func(template string) bool { _, named := p.NamingOf(proxy.TypeOf(template)); return named }
		if len(a.Resources) == 0 && len(a.Optional) > 0 && !slices.ContainsFunc(a.Optional, isNamed) {
			t.Errorf("%s: no request names a resource of it: add one of its types to Namings of its service", action)
		}
	}
	if len(actions) < 200 || covered < 150 {
		t.Errorf("%d calls with %d types of resources are found", len(actions), covered)
	}
}

func TestDemands_EveryDependentActionHasADecision(t *testing.T) {
	p := emulated(t)
	actions := calledActions(t, p)
	listed := func(action, needs string) bool {
		return slices.Contains(proxy.Reference().Actions[action].Dependents, needs)
	}
	for _, action := range actions {
		for _, needs := range proxy.Reference().Actions[action].Dependents {
			if !slices.ContainsFunc(p.Dependents(), func(d proxy.Dependent) bool { return d.Action == action && d.Needs == needs }) {
				t.Errorf("%s: decide in Dependents of its service when a request takes %s", action, needs)
			}
		}
	}
	for _, d := range p.Dependents() {
		several := strings.HasSuffix(d.Action, "*") || d.Needs == "kms"
		switch {
		case d.Never != "" && !listed(d.Action, d.Needs):
			t.Errorf("%s %s: the decision that it is never asked for is about nothing", d.Action, d.Needs)
		case d.Never == "" && d.Page == "" && !listed(d.Action, d.Needs):
			t.Errorf("%s %s: the reference does not list it: say where the need is documented", d.Action, d.Needs)
		case !several && d.Never == "" && !slices.Contains(actions, d.Action) && !strings.HasPrefix(d.Action, "sns:"):
			t.Errorf("%s %s: nothing calls the first", d.Action, d.Needs)
		}
	}
	for _, f := range p.AllFacts() {
		for key := range f.Rights.NotNamed {
			if action, _, _ := strings.Cut(key,
				" "); len(proxy.Reference().Actions[action].Resources)+len(proxy.Reference().Actions[action].Optional) == 0 {
				t.Errorf("NotNamed %q is about nothing", key)
			}
		}
	}
}

// withoutOtherAction are requests with tags that need no other action in AWS than theirs.
var withoutOtherAction = map[string]string{
	"cognito-idp:UpdateUserPool":    "no source names another action; the reference lists the condition on the tags of the request for the action itself",
	"eks:CreateAccessEntry":         "the operator gives access entries no tags",
	"events:PutTargets":             "tags of ECS tasks alone; the target is a queue",
	"ecr:ListTagsForResource":       "a read, which gives none",
	"sts:AssumeRole":                "the operator gives sessions no tags",
	"sts:AssumeRoleWithWebIdentity": "tags of sessions are in the token, which EKS gives none",
}

// Whatever takes tags, by AWS's models or by the conditions of the reference, needs the right to tag, or there is a reason.
func TestDemands_EveryRequestWithTagsNeedsTheRightToTag(t *testing.T) {
	p := emulated(t)
	models, err := awsmodels.Read()
	if err != nil {
		t.Fatal(err)
	}
	taking := map[string]bool{}
	for operation := range models.Tags {
		service, op, _ := strings.Cut(operation, " ")
		taking[proxy.Call{Service: kind.IAMPrefix(service), Op: op}.Action()] = true
	}
	for _, action := range calledActions(t, p) {
		taking[action] = taking[action] || proxy.Reference().Actions[action].Tags
	}
	isTagging := func(action string) bool { return proxy.Reference().Actions[action].Tagging }
	n := 0
	for action, takes := range taking {
		if !takes || isTagging(action) {
			continue
		}
		n++
		decided := slices.ContainsFunc(p.Dependents(), func(d proxy.Dependent) bool {
			return d.Action == action && isTagging(d.Needs) && (d.With == proxy.WithTags || d.Never != "")
		})
		if decided == (withoutOtherAction[action] != "") {
			t.Errorf("%s takes tags: name in Dependents of its service the action that the caller needs besides, or write down why not", action)
		}
	}
	for action := range withoutOtherAction {
		if !taking[action] {
			t.Errorf("%s takes no tags", action)
		}
	}
	if n < 30 {
		t.Errorf("only %d requests take tags: run make awsmodels", n)
	}
}

// demandsFor returns the demands of a request of the query protocol or a JSON service, as an action and a resource each.
func demandsFor(t *testing.T, service, op, region string, body any) []string {
	t.Helper()
	p := emulated(t)
	r := &proxy.Request{Service: service, Op: op, Region: region, HTTP: &http.Request{URL: &url.URL{Path: "/"}}}
	switch b := body.(type) {
	case url.Values:
		r.Form = b
	case map[string]any:
		r.JSON = b
	}
	var out []string
	for _, d := range p.DemandsOf(t.Context(), r) {
		out = append(out, d.Action+" "+d.Resource)
	}
	slices.Sort(out)
	return out
}

func TestDemands_ReadTheTagsOfEveryRequest(t *testing.T) {
	models, err := awsmodels.Read()
	if err != nil {
		t.Fatal(err)
	}
	for operation, members := range models.Tags {
		for _, member := range members.All() {
			if strings.Contains(member, ".") {
				continue // in XML, where each tag is an element
			}
			r := &proxy.Request{JSON: map[string]any{member: []any{map[string]any{"Key": "team", "Value": "shop"}}}}
			if tags := proxy.RequestTags(r); tags["team"] != "shop" {
				t.Errorf("%s: the tags in %s are not read: %v", operation, member, tags)
			}
		}
	}
}

func TestDemands_AreFormedFromTheRequest(t *testing.T) {
	const account = ":123456789012:"
	for name, row := range map[string]struct {
		service, op, region string
		body                any
		want                []string
	}{
		"a final snapshot": {"rds", "DeleteDBInstance", "eu-west-1",
			url.Values{"DBInstanceIdentifier": {"a"}, "FinalDBSnapshotIdentifier": {"s"}}, []string{
				"rds:AddTagsToResource arn:aws:rds:eu-west-1" + account + "snapshot:s", "rds:CreateDBSnapshot arn:aws:rds:eu-west-1" + account + "db:a",
				"rds:CreateDBSnapshot arn:aws:rds:eu-west-1" + account + "snapshot:s", "rds:DeleteDBInstance arn:aws:rds:eu-west-1" + account + "db:a",
				"rds:DeleteDBInstance arn:aws:rds:eu-west-1" + account + "snapshot:s"}},
		"no final snapshot": {"rds", "DeleteDBInstance", "eu-west-1", url.Values{"DBInstanceIdentifier": {"a"}}, []string{
			"rds:DeleteDBInstance arn:aws:rds:eu-west-1" + account + "db:a"}},
		"tags with a create": {"ec2", "CreateSubnet", "us-gov-west-1",
			url.Values{"VpcId": {"vpc-1"}, "TagSpecification.1.ResourceType": {"subnet"}, "TagSpecification.1.Tag.1.Key": {"k"}},
			[]string{"ec2:CreateSubnet arn:aws-us-gov:ec2:us-gov-west-1" + account + "subnet/*",
				"ec2:CreateSubnet arn:aws-us-gov:ec2:us-gov-west-1" + account + "vpc/vpc-1",
				"ec2:CreateTags arn:aws-us-gov:ec2:us-gov-west-1" + account + "subnet/*"}},
		"resources by identifiers": {"ec2", "CreateTags", "cn-north-1", url.Values{"ResourceId.1": {"vpc-1"}, "ResourceId.2": {"sg-1"}},
			[]string{"ec2:CreateTags arn:aws-cn:ec2:cn-north-1" + account + "security-group/sg-1",
				"ec2:CreateTags arn:aws-cn:ec2:cn-north-1" + account + "vpc/vpc-1"}},
		"a table by its ARN": {"dynamodb", "TagResource", "eusc-de-east-1",
			map[string]any{"ResourceArn": "arn:aws-eusc:dynamodb:eusc-de-east-1" + account + "table/t"},
			[]string{"dynamodb:TagResource arn:aws-eusc:dynamodb:eusc-de-east-1" + account + "table/t"}},
		"what names nothing though it must": {"kms", "EnableKey", "eu-west-1", map[string]any{},
			[]string{"kms:EnableKey " + proxy.Unnamed + "kms key/*"}},
	} {
		if got := demandsFor(t, row.service, row.op, row.region, row.body); !slices.Equal(got, row.want) {
			t.Errorf("%s:\n got %q\nwant %q", name, got, row.want)
		}
	}
}
