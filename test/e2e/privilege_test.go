// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/route53"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/catalog"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/permissions"
	"github.com/nexus-operator/nexus-operator/internal/testkit/awsproxy"
	"github.com/nexus-operator/nexus-operator/internal/testkit/wire"
)

// printedPolicies are those of an operator whose resources have names with a prefix.
func printedPolicies(t *testing.T, prefix string) []iampolicy.Document {
	t.Helper()
	var metas []kind.Meta
	for _, k := range catalog.Kinds() {
		metas = append(metas, k.Meta())
	}
	documents, err := permissions.Operator(metas, permissions.Scope{Account: homeAccount, Region: "ap-southeast-1", NamePrefix: prefix})
	if err != nil {
		t.Fatal(err)
	}
	return documents
}

// allows reports whether a statement allows an action on a resource. The emulator evaluates no resources; conditions are
// compared by the tests of package permissions.
func allows(documents []iampolicy.Document, action, resource string) bool {
	for _, d := range documents {
		for _, s := range d.Statement {
			covers := func(list iampolicy.Values, text string) bool {
				return slices.ContainsFunc(list, func(pattern string) bool { return wire.Glob(pattern, text) })
			}
			if s.Effect == "Allow" && covers(s.Action, action) && covers(s.Resource, resource) {
				return true
			}
		}
	}
	return false
}

// wholeResources are the actions for which AWS evaluates no resource.
// https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html
var wholeResources = []string{"acm:RequestCertificate", "cognito-idp:CreateUserPool", "cognito-idp:DescribeUserPoolDomain", "cognito-idp:ListUserPools", "glue:CreateCrawler", "kms:CreateKey", "kms:ListAliases", "route53:ListHostedZonesByName",
	"sns:GetSubscriptionAttributes", "sns:SetSubscriptionAttributes", "sns:Unsubscribe", "ssm:DescribeParameters", "tag:GetResources"}

// prefixes of the names of resources in ARNs, by service.
var resourceForms = map[string]string{"acm": "certificate/", "cognito-idp": "userpool/", "dynamodb": "table/", "iam": "role/", "kms": "key/", "secretsmanager": "secret:", "sns": "", "sqs": "", "ssm": "parameter"}

// resourcesOf are the ARNs that AWS evaluates for a call.
func resourcesOf(c awsproxy.Call) []string {
	regional := func(resource string) string {
		return "arn:aws:" + c.Service + ":ap-southeast-1:" + homeAccount + ":" + resource
	}
	switch {
	case slices.Contains(wholeResources, c.Action()):
		return []string{"*"}
	case c.Service == "s3":
		return []string{"arn:aws:s3:::" + c.Resource}
	case c.Service == "kms" && strings.HasSuffix(c.Op, "Alias"): // and the key, which the request of DeleteAlias does not name
		return []string{regional(c.Resource), regional("key/of-the-alias")}
	case c.Service == "iam" && strings.HasSuffix(c.Op, "OpenIDConnectProvider"):
		return []string{"arn:aws:iam::" + homeAccount + ":oidc-provider/" + c.Resource}
	case c.Service == "iam":
		return []string{"arn:aws:iam::" + homeAccount + ":role/" + c.Resource}
	case c.Service == "route53" && c.Op == "GetChange":
		return []string{"arn:aws:route53:::change/" + c.Resource}
	case c.Service == "route53":
		return []string{"arn:aws:route53:::hostedzone/" + c.Resource}
	case c.Service == "glue" && strings.Contains(c.Op, "Crawler"):
		return []string{regional("crawler/" + c.Resource)}
	case c.Service == "glue" && strings.Contains(c.Op, "Tag"):
		_, rest, _ := strings.Cut(c.Body, `"ResourceArn":"`)
		arn, _, _ := strings.Cut(rest, `"`)
		return []string{arn}
	case c.Service == "glue":
		out := []string{regional("catalog")}
		database, table, ok := strings.Cut(c.Resource, "/")
		if out = append(out, regional("database/"+database)); ok {
			out = append(out, regional("table/"+database+"/"+table))
		}
		return out
	case c.Service == "ssm" && c.Op == "GetServiceSetting":
		return []string{regional("servicesetting/ssm/parameter-store/high-throughput-enabled")}
	}
	var out []string
	for name := range strings.SplitSeq(c.Resource, ",") {
		if c.Service == "secretsmanager" {
			name += "-AbCdEf"
		}
		out = append(out, regional(resourceForms[c.Service]+name))
	}
	return out
}

// A capability with everything is created, edited, checked and removed, and each call of the operator is one that its printed
// policy allows on the resource that it names. The policy reaches the names of one team alone.
func TestPrivilege_AWholeLifeFitsThePrintedPolicy(t *testing.T) {
	b := newBed(t, "--check-interval=2s")
	zone := b.zone("example.com")
	c := withStores(b.small("team-life"))
	c.Spec.DataServices.Glue = &nexusv1.GlueSpec{}
	c.Spec.DataServices.KMS = &nexusv1.KMSSpec{}
	c.Spec.DataServices.Queues = []nexusv1.QueueSpec{{Name: "jobs", DeadLetter: &nexusv1.DeadLetterSpec{}}}
	c.Spec.DataServices.Topics = []nexusv1.TopicSpec{{Name: "news", SubscribeQueues: []nexusv1.QueueName{"jobs"}}}
	c.Spec.Secrets = []nexusv1.SecretSpec{{Name: "openai", Generate: &nexusv1.GenerateSpec{}}}
	c.Spec.Ingress = &nexusv1.IngressSpec{Host: "team-life.example.com", HostedZoneID: zone.id}
	c.Spec.EnableCognito = true
	b.Create(c)
	b.Running(c)
	b.Edit(c, func() {
		c.Spec.DataServices.Glue, c.Spec.DataServices.Topics, c.Spec.Ingress.Host = nil, nil, "other.example.com"
		c.Spec.Backend.Image = "registry.example/backend:2"
	})
	b.Running(c)
	b.Edit(c, func() { c.Annotations = map[string]string{wellknown.AnnotationReconcileAt: "now"} })
	b.Eventually(30*time.Second, "the requested check to be done", func() error {
		if err := b.Get(c); err != nil || c.Status.LastHandledReconcileAt != "now" {
			return fmt.Errorf("%v, handled %q", err, c.Status.LastHandledReconcileAt)
		}
		return nil
	})
	b.Remove(c)
	_, err := zone.api.DeleteHostedZone(b.Ctx(), &route53.DeleteHostedZoneInput{Id: &zone.id})
	must(b, 0, err)

	documents, others := printedPolicies(t, "team-"), printedPolicies(t, "finance-")
	services, limited := map[string]bool{}, 0
	for _, call := range b.World.AWS().Calls() {
		if call.Service == "sts" {
			continue // GetCallerIdentity needs no right
		}
		services[call.Service] = true
		for _, arn := range resourcesOf(call) {
			if !allows(documents, call.Action(), arn) {
				t.Errorf("%s: %s on %s is not allowed", call.Label(), call.Action(), arn)
			}
			if !allows(others, call.Action(), arn) {
				limited++
			}
		}
	}
	for _, s := range []string{"acm", "cognito-idp", "dynamodb", "glue", "iam", "kms", "route53", "s3", "secretsmanager", "sns", "sqs", "ssm"} {
		if !services[s] {
			t.Errorf("the life used nothing of %s", s)
		}
	}
	if limited == 0 {
		t.Error("the policy of another team allows every call")
	}
}
