// SPDX-License-Identifier: Apache-2.0

package capability_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/graph"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
)

// iamMatch reports whether an IAM resource pattern matches an ARN: * is any text, ? any one character.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_resource.html
func iamMatch(pattern, arn string) bool {
	star, back := -1, 0
	p, a := 0, 0
	for a < len(arn) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, back = p, a
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == arn[a]):
			p++
			a++
		case star >= 0:
			back++
			p, a = star+1, back
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

func TestTheMatcherKnowsStarsAndQuestionMarks(t *testing.T) {
	for _, tc := range []struct {
		pattern, arn string
		want         bool
	}{
		{"a", "a", true}, {"a", "b", false}, {"a*", "a", true}, {"a*c", "abbbc", true}, {"a*c", "abbbd", false}, {"*", "anything", true},
		{"a??", "abc", true}, {"a??", "ab", false}, {"a??", "abcd", false}, {"a*b*c", "axbxbxc", true}, {"", "", true}, {"", "a", false},
		{"s:x-??????", "s:x-AbCdEf", true}, {"s:x-??????", "s:x-y-AbCdEf", false},
	} {
		if got := iamMatch(tc.pattern, tc.arn); got != tc.want {
			t.Errorf("%q on %q: %v", tc.pattern, tc.arn, got)
		}
	}
}

// arns are the ARNs of everything in AWS that a capability becomes, and of things in it.
func arns(t fatal, g *graph.Graph, account, region string) []string {
	prefix := func(service string) string { return "arn:aws:" + service + ":" + region + ":" + account + ":" }
	var out []string
	name := func(o *unstructured.Unstructured, field string) string { return at(t, o, "spec", field).(string) }
	for _, o := range ofKind(g, "DynamoDBTable") {
		out = append(out, prefix("dynamodb")+"table/"+name(o, "tableName"))
	}
	for _, o := range ofKind(g, "S3Bucket") {
		b := "arn:aws:s3:::" + name(o, "bucketName")
		out = append(out, b, b+"/call-records/dt=1/a.json", b+"/wxcc-calls/b", b+"/c")
	}
	for _, db := range ofKind(g, "GlueDatabase") {
		out = append(out, prefix("glue")+"database/"+name(db, "databaseName"))
		for _, o := range ofKind(g, "GlueTable") {
			out = append(out, prefix("glue")+"table/"+name(db, "databaseName")+"/"+name(o, "tableName"))
		}
	}
	for _, o := range ofKind(g, "GlueCrawler") {
		out = append(out, prefix("glue")+"crawler/"+name(o, "crawlerName"))
	}
	for _, o := range ofKind(g, "SSMParameterSet") {
		path := prefix("ssm") + "parameter" + name(o, "path")
		out = append(out, path)
		for p := range at(t, o, "spec", "parameters").(map[string]any) {
			out = append(out, path+"/"+p)
		}
	}
	for _, o := range ofKind(g, "SecretsManagerSecret") {
		out = append(out, prefix("secretsmanager")+"secret:"+name(o, "secretName")+"-AbCdEf")
	}
	for _, o := range ofKind(g, "SQSQueue") {
		out = append(out, prefix("sqs")+name(o, "queueName"))
	}
	for _, o := range ofKind(g, "SNSTopic") {
		out = append(out, prefix("sns")+name(o, "topicName"))
	}
	for _, o := range ofKind(g, "KMSKey") {
		out = append(out, prefix("kms")+"key/"+keyOf+o.GetName())
	}
	for _, o := range ofKind(g, "IAMRole") {
		out = append(out, "arn:aws:iam::"+account+":role/"+name(o, "roleName"))
	}
	return out
}

// resources are the patterns of a role's policies.
func resources(t fatal, role *unstructured.Unstructured) []string {
	var out []string
	for _, p := range policies(t, role) {
		for _, s := range p.Statement {
			if s.Effect != "Allow" || len(s.Action) == 0 || len(s.Resource) == 0 {
				t.Fatalf("%s: a statement that is not plain: %+v", role.GetName(), s)
			}
			for _, a := range s.Action {
				if strings.Contains(a, "*") {
					t.Fatalf("%s allows %s", role.GetName(), a)
				}
			}
			if !isImageToken(s) {
				out = append(out, s.Resource...)
			}
		}
	}
	return out
}

// isImageToken reports whether a statement is that of the token without which no image can be pulled: AWS limits the right to nothing.
func isImageToken(s iampolicy.Statement) bool {
	return s.Sid == "ImageToken" && slices.Equal(s.Action, []string{"ecr:GetAuthorizationToken"}) && slices.Equal(s.Resource, []string{"*"})
}

func plain(n [2]string) *nexusv1.NexusAICapability {
	return minimal(withData, func(c *nexusv1.NexusAICapability) {
		c.Name = n[0] + "-" + n[1]
		c.Spec.CapabilityName, c.Spec.Environment, c.Spec.Region = n[0], n[1], "eu-west-1"
		c.Spec.EnableCognito, c.Spec.Cognito = true, &nexusv1.CognitoSpec{CallbackURLs: []nexusv1.SignInURL{"https://example.com/"}}
		if regexp.MustCompile("aws|amazon|cognito").MatchString(c.Name) { // which Cognito reserves
			c.Spec.Cognito.DomainPrefix = "sign-in"
		}
		c.Spec.DataServices.KMS = &nexusv1.KMSSpec{}
		c.Spec.DataServices.Queues = []nexusv1.QueueSpec{{Name: "app", DeadLetter: &nexusv1.DeadLetterSpec{}}, {Name: "dev-app", FIFO: true}}
		c.Spec.DataServices.Topics = []nexusv1.TopicSpec{{Name: "app", SubscribeQueues: []nexusv1.QueueName{"app"}}, {Name: "dev-app", FIFO: true}}
	})
}

// longer draws names with a prefix that begins with the prefix of n: a careless wildcard would match them.
func longer(n [2]string) *rapid.Generator[[2]string] {
	words := rapid.SampledFrom([]string{"x", "dev", "app", "glue", "call"})
	return rapid.Custom(func(t *rapid.T) [2]string {
		name := append([]string{n[0], n[1]}, rapid.SliceOfN(words, 0, 2).Draw(t, "words")...)
		return [2]string{strings.Join(name, "-"), words.Draw(t, "env")}
	})
}

func TestNoPolicyOfOneCapabilityReachesAnother(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := anyNames().Draw(t, "a")
		b := rapid.OneOf(anyNames(), longer(a)).Draw(t, "b")
		if a == b || len(b[0])+len(b[1]) > 41 {
			return
		}
		theirs := arns(t, compile(t, plain(b), facts()), "123456789012", "eu-west-1")
		for _, role := range ofKind(compile(t, plain(a), facts()), "IAMRole") {
			for _, pattern := range resources(t, role) {
				for _, arn := range theirs {
					if iamMatch(pattern, arn) {
						t.Fatalf("%s of %v may use %s of %v: it allows %s", role.GetName(), a, arn, b, pattern)
					}
				}
			}
		}
	})
}

func TestThePolicyCoversEverythingThatIsTheCapabilitys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyCapability().Draw(t, "capability")
		moveTo(c, "eu-west-1")
		withoutProvider(c)
		g := compile(t, c, facts())
		patterns := resources(t, object(t, g, "IAMRole/"+c.Spec.CapabilityName+"-"+c.Spec.Environment+"-app-role"))
		for _, arn := range arns(t, g, "123456789012", "eu-west-1") {
			if strings.Contains(arn, ":role/") || strings.HasSuffix(arn, ":parameter/"+c.Spec.CapabilityName+"/"+c.Spec.Environment) {
				continue // a right on the path would cover parameters of others below it
			}
			covered := false
			for _, p := range patterns {
				covered = covered || iamMatch(p, arn)
			}
			ofBudget := c.Spec.Budget != nil && strings.HasSuffix(arn, ":"+c.Spec.CapabilityName+"-"+c.Spec.Environment+"-budget")
			if covered == ofBudget {
				t.Fatalf("that something allows %s is %v", arn, covered)
			}
		}
	})
}

// typesBelow are the types of AI parts that belong to another one, which the workloads use, and have no tags.
var typesBelow = []string{"AWS::Bedrock::GuardrailVersion", "AWS::Bedrock::DataSource", "AWS::BedrockAgentCore::GatewayTarget"}

// typeOf returns the type of an AWSResource of a graph.
func typeOf(t fatal, g *graph.Graph, id string) string {
	t.Helper()
	return at(t, object(t, g, id), "spec", "typeName").(string)
}

// A name gives no right: x, dev, prod-license and x-dev, prod, license are one table, and any user of the account may have made it. The
// status of the child shows its owner, and the role waits for that.
func TestRolesGetRightsOnNothingThatIsNotProvenTheirs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyCapability().Draw(t, "capability")
		moveTo(c, "eu-west-1")
		withoutProvider(c)
		f := facts()
		g := compile(t, c, f)
		all := everything(t, g, c, f)
		maps.DeleteFunc(all, func(id string, _ capability.Proof) bool {
			return slices.Contains([]string{"CognitoUserPool", "Certificate"}, kindOf(id)) || kindOf(id) == "AWSResource" && slices.Contains(typesBelow, typeOf(t, g, id)) || isOfBudget(g, id)
		}) // give no rights
		unproven := rapid.SampledFrom(slices.Sorted(maps.Keys(all))).Draw(t, "unproven")
		arn := all[unproven].ARN
		switch rapid.IntRange(0, 1).Draw(t, "how") {
		case 0:
			delete(all, unproven)
		default:
			all[unproven] = capability.Proof{ARN: arn + "-of-another"}
		}
		f.Owned = all
		g = compile(t, c, f)
		for _, role := range ofKind(g, "IAMRole") {
			if strings.HasSuffix(role.GetName(), "-glue-role") && kindOf(unproven) == "GlueTable" {
				continue // the crawler makes and changes the tables of the database, which is proven
			}
			for _, pattern := range resources(t, role) {
				if iamMatch(pattern, arn) || kindOf(unproven) == "SSMParameterSet" && strings.HasPrefix(pattern, arn+"/") {
					t.Fatalf("%s gets rights by %s although %s is not proven to own %s", role.GetName(), pattern, unproven, arn)
				}
			}
		}
		n, _ := g.Node("IAMRole/" + c.Spec.CapabilityName + "-" + c.Spec.Environment + "-app-role")
		if !slices.ContainsFunc(n.After, func(e graph.Edge) bool {
			return e.To == unproven && (e.Need == graph.Ready || e.Need == graph.Present && kindOf(unproven) == "SSMParameterSet")
		}) {
			t.Fatalf("the role does not wait for %s", unproven)
		}
	})
}

func TestRightsOnAKeyReachNoOtherData(t *testing.T) {
	const key = "arn:aws:kms:eu-west-1:123456789012:key/of-somebody"
	c := minimal(withData, func(c *nexusv1.NexusAICapability) {
		c.Spec.Region = "eu-west-1"
		c.Spec.DataServices.DynamoDB.KMSKeyArn, c.Spec.DataServices.S3.KMSKeyArn = key, key
	})
	g := compile(t, c, facts())
	found := 0
	for _, role := range ofKind(g, "IAMRole") {
		for _, p := range policies(t, role) {
			for _, s := range p.Statement {
				if !slices.Contains(s.Resource, key) {
					continue
				}
				found++
				if len(s.Condition["StringEquals"]["kms:ViaService"]) != 1 ||
					len(s.Condition["StringLike"]["kms:EncryptionContext:aws:dynamodb:tableName"])+len(s.Condition["StringLike"]["kms:EncryptionContext:aws:s3:arn"]) == 0 {
					t.Errorf("%s uses the key for more than its own stores: %+v", role.GetName(), s)
				}
			}
		}
	}
	if found != 3 {
		t.Errorf("%d statements allow the use of the key", found)
	}
}

func TestTheTrustOfTheRolesIsNarrow(t *testing.T) {
	c := minimal(withData, func(c *nexusv1.NexusAICapability) { c.Namespace = "team-a" })
	g := compile(t, c, facts())
	app := object(t, g, "IAMRole/myapp-dev-app-role")
	if at(t, app, "spec", "irsa", "namespace") != "myapp-dev" || at(t, app, "spec", "irsa", "serviceAccount") != "myapp-dev-app-sa" {
		t.Errorf("the app role trusts %v", at(t, app, "spec", "irsa"))
	}
	const want = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"glue.amazonaws.com"},` +
		`"Action":"sts:AssumeRole","Condition":{"StringEquals":{"aws:SourceAccount":"123456789012"}}}]}`
	if got := at(t, object(t, g, "IAMRole/myapp-dev-glue-role"), "spec", "assumeRolePolicyDocument"); got != want {
		t.Errorf("the crawler's role trusts %v", got)
	}
}

func TestTheLargestCapabilityFitsIntoItsPolicy(t *testing.T) {
	c := minimal(withData, func(c *nexusv1.NexusAICapability) {
		c.Spec.CapabilityName, c.Spec.Environment = strings.Repeat("c", 25), strings.Repeat("e", 16)
		c.Spec.Region = "ap-southeast-1"
		c.Name = "largest"
		for i := range 16 {
			letter := string(rune('a' + i))
			c.Spec.DataServices.DynamoDB.Tables = append(c.Spec.DataServices.DynamoDB.Tables, nexusv1.TableSpec{Name: strings.Repeat(letter, 40)})
			c.Spec.DataServices.S3.Buckets = append(c.Spec.DataServices.S3.Buckets, nexusv1.BucketSpec{Name: strings.Repeat(letter, 20)})
			c.Spec.Secrets = append(c.Spec.Secrets, nexusv1.SecretSpec{Name: strings.Repeat(letter, 40), Generate: &nexusv1.GenerateSpec{}})
		}
		c.Spec.DataServices.S3.Buckets[0].Name = "call-data"
	})
	g := compile(t, c, facts())
	if g.Len() > 128 {
		t.Errorf("%d objects do not fit into status.resources", g.Len())
	}
	if err := capability.Validate(c, facts()); err != nil {
		t.Error(err)
	}
	// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
	const most = 10240
	for _, role := range ofKind(g, "IAMRole") {
		total := 0
		list, _, _ := unstructured.NestedSlice(role.Object, "spec", "inlinePolicies")
		for _, item := range list {
			total += len(item.(map[string]any)["policyDocument"].(string))
		}
		if total > most {
			t.Errorf("the policies of %s have %d characters; AWS allows %d", role.GetName(), total, most)
		}
	}
}
