// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// Need is a right that a handler needs to carry out a request.
type Need struct {
	Action, Resource string
	// Context has the condition keys of the request, such as aws:RequestTag/team, with their values.
	Context map[string]string
	// Tags has the tags of the resource; nil where it does not exist yet.
	Tags map[string]string
}

// SetRights lets handlers need the rights that the schemas list, of the sender of the request. refuses returns the text of AWS's error for
// an access key that lacks a right; empty where the key has it. Types that evaluations does not have need no rights.
func (d *Double) SetRights(refuses func(accessKey string, need Need) string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rights.refuses = refuses
}

// evaluation describes the resources that AWS evaluates for the actions of the handlers of a type.
// https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html
type evaluation struct {
	// service and resource are the parts of the ARN, with the names of properties in braces.
	service, resource string
	// everywhere are the actions that AWS evaluates without a resource.
	everywhere string
	// linked names the role of the service that a create makes where the account does not have it.
	linked string
	// unused are the operations of the service that a handler calls for properties alone that the double knows none of.
	unused string
	// global is set where ARNs have no region.
	global bool
	// passedTo is the service that gets the role of the resource.
	passedTo string
	// others are the ends of the ARNs of other resources of the service in AWS's evaluation of actions.
	others map[string]string
}

// identities are the actions on the identity that AgentCore makes with a gateway or a runtime, which it names after it.
// https://docs.aws.amazon.com/bedrock-agentcore/latest/devguide/runtime-permissions.html
func identities(name string) map[string]string {
	identity := "workload-identity-directory/default/workload-identity/" + name + "-0123456789"
	return map[string]string{"CreateWorkloadIdentity": identity, "DeleteWorkloadIdentity": identity}
}

var evaluations = map[string]evaluation{
	"AWS::DSQL::Cluster": {service: "dsql", resource: "cluster/{Identifier}", everywhere: "dsql:ListClusters",
		linked: "dsql.amazonaws.com/AWSServiceRoleForAuroraDsql"},
	"AWS::EC2::PrefixList": {service: "ec2", resource: "prefix-list/{PrefixListId}",
		everywhere: "ec2:DescribeManagedPrefixLists"},
	"AWS::Kinesis::Stream": {service: "kinesis", resource: "stream/{Name}",
		everywhere: "kinesis:DisableEnhancedMonitoring kinesis:EnableEnhancedMonitoring kinesis:ListStreams kinesis:UpdateShardCount kinesis:UpdateStreamMode"},
	"AWS::Logs::LogGroup":     {service: "logs", resource: "log-group:{LogGroupName}"},
	"AWS::Logs::MetricFilter": {service: "logs", resource: "log-group:{LogGroupName}"},
	"AWS::S3Vectors::VectorBucket": {service: "s3vectors", resource: "bucket/{VectorBucketName}",
		everywhere: "s3vectors:ListVectorBuckets"},
	"AWS::S3Vectors::Index": {service: "s3vectors", resource: "{VectorBucketArn}/index/{IndexName}"},
	"AWS::Bedrock::Guardrail": {service: "bedrock", resource: "guardrail/{GuardrailId}",
		everywhere: "bedrock:CreateGuardrail bedrock:ListGuardrails"},
	"AWS::Bedrock::GuardrailVersion": {service: "bedrock", resource: "guardrail/{GuardrailId}"},
	"AWS::Bedrock::ApplicationInferenceProfile": {service: "bedrock", resource: "application-inference-profile/{InferenceProfileIdentifier}",
		everywhere: "bedrock:ListInferenceProfiles"},
	"AWS::Bedrock::KnowledgeBase": {service: "bedrock", resource: "knowledge-base/{KnowledgeBaseId}", passedTo: "bedrock.amazonaws.com",
		everywhere: "bedrock:AssociateThirdPartyKnowledgeBase bedrock:CreateKnowledgeBase bedrock:ListKnowledgeBases"},
	"AWS::Bedrock::DataSource": {service: "bedrock", resource: "knowledge-base/{KnowledgeBaseId}"},
	"AWS::BedrockAgentCore::Memory": {service: "bedrock-agentcore", resource: "memory/{MemoryId}",
		everywhere: "bedrock-agentcore:CreateMemory bedrock-agentcore:ListMemories bedrock-agentcore:UpdateMemoryRecordExpirySpecification"},
	"AWS::BedrockAgentCore::Gateway": {service: "bedrock-agentcore", resource: "gateway/{GatewayIdentifier}",
		passedTo:   "bedrock-agentcore.amazonaws.com",
		everywhere: "bedrock-agentcore:CreateGateway bedrock-agentcore:ListGateways", others: identities("{Name}")},
	"AWS::BedrockAgentCore::GatewayTarget": {service: "bedrock-agentcore", resource: "gateway/{GatewayIdentifier}",
		unused: "GetAgentRuntime GetResourceOauth2Token GetWorkloadAccessToken GetWorkloadAccessTokenForUserId"},
	"AWS::BedrockAgentCore::Runtime": {service: "bedrock-agentcore", resource: "runtime/{AgentRuntimeId}",
		passedTo:   "bedrock-agentcore.amazonaws.com",
		linked:     "runtime-identity.bedrock-agentcore.amazonaws.com/AWSServiceRoleForBedrockAgentCoreRuntimeIdentity",
		everywhere: "bedrock-agentcore:CreateAgentRuntime bedrock-agentcore:ListAgentRuntimeEndpoints bedrock-agentcore:ListAgentRuntimes bedrock-agentcore:PassCapacityProvider", others: identities("{AgentRuntimeName}")},
	typeBudget:            {service: "budgets", resource: "budget/{Id}", global: true},
	"AWS::SSM::Parameter": {service: "ssm", resource: "parameter{Name}", everywhere: "ssm:DescribeParameters"},
	"AWS::StepFunctions::StateMachine": {service: "states", resource: "stateMachine:{StateMachineName}",
		everywhere: "states:ListStateMachines"},
}

// errand is the work of one handler for one request.
type errand struct {
	handler, accessKey, region string
	before, after              map[string]any // the properties; nil where there is no resource
	named                      map[string]any // the properties that identify the resource which the request names
}

// rights checks the rights that the handlers need in an account.
type rights struct {
	account string
	refuses func(accessKey string, need Need) string // nil where they need none
}

// refused returns the error text of a service for the first right that the caller of a handler lacks; empty for a caller who has all. A
// handler calls all actions of its own service that the schema lists: the double knows none that it could do without.
func (r rights) refused(m *model, e errand) string {
	of, known := evaluations[m.TypeName]
	if r.refuses == nil || !known {
		return ""
	}
	for _, action := range m.Handlers[e.handler].Permissions {
		service, operation, _ := strings.Cut(action, ":")
		for _, need := range r.needs(of, e, strings.ToLower(service), operation) {
			if text := r.refuses(e.accessKey, need); text != "" {
				return text
			}
		}
	}
	return ""
}

// needs returns the rights that an errand needs for one action of a handler. Actions of other services than that of the type are needed for
// the properties that name a role or a key.
func (r rights) needs(of evaluation, e errand, service, operation string) []Need {
	need := Need{Action: service + ":" + operation, Context: map[string]string{}, Tags: tagsOf(e.before)}
	properties := e.properties()
	role, hasRole := properties["RoleArn"].(string)
	switch {
	case need.Action == "iam:PassRole" && hasRole:
		need.Resource, need.Tags = role, nil
		if of.passedTo != "" {
			need.Context["iam:PassedToService"] = of.passedTo
		}
		return []Need{need}
	case need.Action == "iam:CreateServiceLinkedRole" && of.linked != "":
		need.Resource, need.Tags = "arn:aws:iam::"+r.account+":role/aws-service-role/"+of.linked, nil
		return []Need{need}
	case service != of.service || slices.Contains(strings.Fields(of.unused), operation):
		return nil
	case slices.Contains(strings.Fields(of.everywhere), need.Action):
		need.Resource = "*"
		if !strings.HasPrefix(operation, "Create") {
			return []Need{need}
		}
		return e.withTags(need, operation)
	}
	if other := of.others[operation]; other != "" {
		of.resource = other
	}
	need.Resource = of.arn(e.region, r.account, properties)
	return e.withTags(need, operation)
}

// arn returns the ARN of a resource; that of any where AWS has not assigned the identifier.
func (of evaluation) arn(region, account string, properties map[string]any) string {
	if arn, ok := properties["Arn"].(string); ok {
		return arn
	}
	if len(properties) == 1 { // a request that names a resource by its ARN alone
		for _, value := range properties {
			if text, is := value.(string); is && strings.HasPrefix(text, "arn:") {
				return text
			}
		}
	}
	name := fillNames(of.resource, properties)
	if strings.HasPrefix(name, "arn:") { // below a resource that is named by its ARN
		return name
	}
	if of.global {
		region = ""
	}
	return fmt.Sprintf("arn:aws:%s:%s:%s:%s", of.service, region, account, name)
}

// properties returns the properties that name the resource. The name of a budget lies deeper, and is its identifier.
func (e errand) properties() map[string]any {
	out := e.declared()
	if budget, is := out["Budget"].(map[string]any); is && out["Id"] == nil {
		out = clone(out)
		out["Id"] = budget["BudgetName"]
	}
	return out
}

func (e errand) declared() map[string]any {
	switch {
	case e.after != nil:
		return e.after
	case e.before != nil:
		return e.before
	default:
		return e.named
	}
}

// identified returns the properties that an identifier consists of.
func (m *model) identified(identifier string) map[string]any {
	out, parts := map[string]any{}, strings.Split(identifier, "|")
	for i, pointer := range m.PrimaryIdentifier {
		if i < len(parts) && parts[i] != "" {
			out[strings.TrimPrefix(pointer, "/properties/")] = parts[i]
		}
	}
	return out
}

// withTags adds the tags of the request to a need; nil for an action on tags that the errand does not change.
func (e errand) withTags(need Need, operation string) []Need {
	given, had := tagsOf(e.after), tagsOf(e.before)
	isTagging := strings.Contains(operation, "Tag") && !strings.HasPrefix(operation, "List")
	removes := isTagging && removal.MatchString(operation)
	adds := isTagging && !removes
	if adds && !loses(given, had) || removes && (e.after == nil || !loses(had, given)) {
		return nil
	}
	if adds || e.handler == "create" {
		e.give(&need, given, had)
	}
	return []Need{need}
}

var removal = regexp.MustCompile("^(Delete|Remove|Untag)")

// give adds the new tags of a request to a need.
func (e errand) give(need *Need, given, had map[string]string) {
	for key, value := range given {
		if had[key] != value {
			need.Context["aws:RequestTag/"+key] = value
		}
	}
	if e.handler == "create" && need.Action == "ec2:CreateTags" { // with the request that makes the resource
		need.Context["ec2:CreateAction"] = "CreateManagedPrefixList"
	}
}

// loses reports whether some of the tags are not among others.
func loses(tags, others map[string]string) bool {
	for key, value := range tags {
		if others[key] != value {
			return true
		}
	}
	return false
}

var braced = regexp.MustCompile(`\{[A-Za-z]+\}`)

// fillNames puts the values of properties into the end of an ARN. Any is in the place of a value that AWS has not assigned.
func fillNames(template string, properties map[string]any) string {
	return braced.ReplaceAllStringFunc(template, func(name string) string {
		if value, ok := properties[strings.Trim(name, "{}")].(string); ok {
			return value
		}
		return "*"
	})
}

// denied returns the answer of Cloud Control API to a read when the caller of the handler lacks a right.
func denied(in input, text string) *refusal {
	return &refusal{"AccessDeniedException", in.TypeName + " Handler returned status FAILED: " + text +
		" (HandlerErrorCode: AccessDenied, RequestToken: 00000000-0000-4000-8000-000000000000)"}
}

var accessKey = regexp.MustCompile(`Credential=([^/,\s]+)/`)

// signingKey is the access key that a request is signed with.
func signingKey(r *http.Request) string {
	if m := accessKey.FindStringSubmatch(r.Header.Get("Authorization")); m != nil {
		return m[1]
	}
	return ""
}
