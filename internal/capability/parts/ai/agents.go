// SPDX-License-Identifier: Apache-2.0

package ai

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/bedrock"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/glue"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/parameters"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/resources"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
)

const (
	memoryField           = aiField + ".memory"
	typeMemory            = "AWS::BedrockAgentCore::Memory"
	maxMemoryName         = 48
	maxMemoryPurpose      = 40
	defaultEventDays      = 90
	leastEventDays        = 3
	mostEventDays         = 365
	memoryStrategySuffix  = "MemoryStrategy"
	memoryIDVariable      = "NEXUS_MEMORY_ID_"
	memoryParameterPrefix = "bedrock-agentcore/"
)

// memoryStrategies are the strategies, each with the name that it has in the memory.
var memoryStrategies = map[nexusv1.MemoryStrategy]string{"Semantic": "semantic", "Summary": "summary", "UserPreference": "user_preference",
	"Episodic": "episodic"}

// memoryUse lists the actions on the contents of a memory; none of them changes the memory.
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonbedrockagentcore.html
var memoryUse = []nexusv1.PartAction{
	"bedrock-agentcore:CreateEvent", "bedrock-agentcore:DeleteEvent", "bedrock-agentcore:DeleteMemoryRecord", "bedrock-agentcore:GetEvent",
	"bedrock-agentcore:GetMemory",
	"bedrock-agentcore:GetMemoryRecord", "bedrock-agentcore:ListActors", "bedrock-agentcore:ListEvents", "bedrock-agentcore:ListMemoryRecords",
	"bedrock-agentcore:ListSessions", "bedrock-agentcore:RetrieveMemoryRecords",
}

func memoryParts(list []nexusv1.MemorySpec) (out []part.Resource) {
	for i, m := range list {
		resource := composed(m.Name, typeMemory, part.Entry(memoryField, i),
			func(k *part.Compiler) map[string]any { return memoryProperties(k, m) }).
			Allows(memoryUse...).Tells(memoryIDVariable+part.EnvironmentVariable(m.Name), memoryParameterPrefix+m.Name+"-memory-id",
			"properties.MemoryId")
		resource.RecreateOnLoss = m.RecreateOnLoss
		out = append(out, resource)
	}
	return out
}

// memoryProperties has names without hyphens, which AgentCore does not allow.
func memoryProperties(k *part.Compiler, m nexusv1.MemorySpec) map[string]any {
	out := map[string]any{
		"Name":                part.Fitted(strings.ReplaceAll(k.Names.Of(m.Name), "-", "_"), maxMemoryName, "_"),
		"EventExpiryDuration": int64(part.Int32Or(m.EventExpiryDays, defaultEventDays)),
	}
	var strategies []any
	for _, s := range slices.Sorted(slices.Values(m.Strategies)) {
		strategies = append(strategies, map[string]any{string(s) + memoryStrategySuffix: map[string]any{"Name": memoryStrategies[s]}})
	}
	if len(strategies) > 0 {
		out["MemoryStrategies"] = strategies
	}
	return out
}

const (
	runtimesField     = aiField + ".agentRuntimes"
	typeRuntime       = "AWS::BedrockAgentCore::Runtime"
	maxRuntimeName    = 48
	maxRuntimePurpose = 40
	maxImage          = 512
	defaultProtocol   = "HTTP"
	// maxRuntimeVariables is AWS's limit for all environment variables of a runtime.
	maxRuntimeVariables = 50
	// sidImageToken is the statement without which no image can be pulled. AWS evaluates its action for no resource.
	sidImageToken = "ImageToken"
)

// runtimeUse lists the actions of workloads on a runtime. AWS evaluates them for the runtime and for the endpoint that the workload
// invokes. AgentCore makes one endpoint with each runtime.
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonbedrockagentcore.html
var runtimeUse = []string{
	"bedrock-agentcore:InvokeAgentRuntime", "bedrock-agentcore:InvokeAgentRuntimeWithWebSocketStream", "bedrock-agentcore:StopRuntimeSession",
}

// agentRuntimeParts returns the runtimes. Each is created after all that it may use.
func agentRuntimeParts(ps part.Parts, s *nexusv1.NexusAICapabilitySpec, list []nexusv1.AgentRuntimeSpec) (out []part.Resource) {
	for i, r := range list {
		a := runtimeAccess(ps, s, r)
		resource := composed(r.Name, typeRuntime, part.Entry(runtimesField, i),
			func(k *part.Compiler) map[string]any { return runtimeProperties(k, r) }).
			Allows().
			Tells("NEXUS_AGENT_RUNTIME_ARN_"+part.EnvironmentVariable(r.Name), "bedrock-agentcore/"+r.Name+"-runtime-arn",
				"properties.AgentRuntimeArn").
			After(objectNames(a)...)
		resource.Behind = func(_ *part.Compiler, arn string) []iampolicy.Statement {
			return []iampolicy.Statement{{Action: runtimeUse, Resource: []string{arn, arn + "/runtime-endpoint/DEFAULT"}}}
		}
		resource.Role = agentRuntimeRole(r)
		out = append(out, resource)
	}
	return out
}

// runtimeAccess resolves the access of an agent. An absent access is an empty one, because it cannot include the runtime itself.
func runtimeAccess(ps part.Parts, s *nexusv1.NexusAICapabilitySpec, r nexusv1.AgentRuntimeSpec) part.AccessSet {
	out := part.AccessSet{Limited: true}
	if len(r.Access) == 0 {
		return out
	}
	// The parts of the other runtimes are made from this one: only the declaration without runtimes is looked at.
	others, ai := *s, aiOf(s)
	ai.AgentRuntimes, others.AI = nil, &ai
	return ps.AccessOf(&others, &r.Access)
}

// objectNames are the names of the parts in a set that have objects.
func objectNames(a part.AccessSet) (out []string) {
	for _, entry := range a.List {
		if field, name, _ := strings.Cut(entry, "/"); field != bedrock.OfModels && field != glue.OfGlue {
			out = append(out, name)
		}
	}
	return out
}

// runtimeProperties has a name without hyphens, which AgentCore does not allow.
func runtimeProperties(k *part.Compiler, r nexusv1.AgentRuntimeSpec) map[string]any {
	return map[string]any{
		"AgentRuntimeName":      runtimeName(k, r),
		"AgentRuntimeArtifact":  map[string]any{"ContainerConfiguration": map[string]any{"ContainerUri": r.Image}},
		"NetworkConfiguration":  map[string]any{"NetworkMode": "PUBLIC"},
		"ProtocolConfiguration": cmp.Or(r.Protocol, defaultProtocol),
		"RoleArn":               resources.RoleOf(k, r.Name),
		"EnvironmentVariables":  runtimeVariables(k, r),
	}
}

func runtimeName(k *part.Compiler, r nexusv1.AgentRuntimeSpec) string {
	return part.Fitted(strings.ReplaceAll(k.Names.Of(r.Name), "-", "_"), maxRuntimeName, "_")
}

// runtimeVariables returns the declared variables, and the variables of the entries that the agent may use. Variables about the cluster and
// about parameters are left out: the agent has no rights on them.
func runtimeVariables(k *part.Compiler, r nexusv1.AgentRuntimeSpec) map[string]any {
	out := map[string]any{}
	for _, v := range r.Env {
		out[v.Name] = v.Value
	}
	all := cmp.Or(k.Whole, k)
	for name, value := range all.Within(runtimeAccess(k.Parts, &k.Capability.Spec, r)).Settings() {
		if strings.HasPrefix(name, "NEXUS_") && !strings.HasPrefix(name, "NEXUS_BACKEND_") && name != "NEXUS_SSM_PREFIX" {
			out[name] = value
		}
	}
	return out
}

func agentRuntimeRole(r nexusv1.AgentRuntimeSpec) *part.ServiceRole {
	return &part.ServiceRole{
		Service: "bedrock-agentcore.amazonaws.com",
		Sources: func(h part.Home) string { return h.ARN("bedrock-agentcore", "*") },
		Uses:    func(k *part.Compiler) []string { return usedByRuntime(k, r) },
		Rights: func(k *part.Compiler) ([]iampolicy.Statement, string) {
			return agentRuntimeRights(k, r)
		},
	}
}

// usedByRuntime returns the IDs of the nodes that an agent may use.
func usedByRuntime(k *part.Compiler, r nexusv1.AgentRuntimeSpec) (out []string) {
	parts := k.Parts.ObjectsByName(k.Capability)
	for _, name := range objectNames(runtimeAccess(k.Parts, &k.Capability.Spec, r)) {
		out = append(out, parts[name]...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// agentRuntimeRights allow AgentCore to pull the image and to write the logs of the runtime, and the agent to use the entries of its
// access.
// https://docs.aws.amazon.com/bedrock-agentcore/latest/devguide/runtime-permissions.html
func agentRuntimeRights(k *part.Compiler, r nexusv1.AgentRuntimeSpec) (out []iampolicy.Statement, lacks string) {
	logs := k.Home.ARN("logs", "log-group:/aws/bedrock-agentcore/runtimes/"+runtimeName(k, r)+"-*")
	out = append(out,
		iampolicy.Statement{Sid: "Image", Action: []string{"ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"},
			Resource: []string{k.Home.ARN("ecr", "repository/"+repositoryOf(r.Image))}},
		iampolicy.Statement{Sid: sidImageToken, Action: []string{"ecr:GetAuthorizationToken"}, Resource: []string{"*"}},
		iampolicy.Statement{Sid: "Logs", Action: []string{"logs:CreateLogGroup", "logs:CreateLogStream", "logs:DescribeLogStreams",
			"logs:PutLogEvents"}, Resource: []string{logs, logs + ":log-stream:*"}},
	)
	a := runtimeAccess(k.Parts, &k.Capability.Spec, r)
	for _, s := range k.RightsWithin(a) {
		if s.Sid != parameters.SidParameters { // the agent has their values as variables
			out = append(out, s)
		}
	}
	for _, id := range usedByRuntime(k, r) {
		if k.Expected == nil && !k.AssumeOwned && k.Proof(id).ARN == "" {
			return out, id
		}
	}
	return out, ""
}

// repositoryOf returns the name of the repository of an image in Amazon ECR.
func repositoryOf(image string) string {
	_, name, _ := strings.Cut(image, "/")
	name, _, _ = strings.Cut(name, "@")
	name, _, _ = strings.Cut(name, ":")
	return name
}

func checkAgentRuntimes(v *part.Verdict, c *nexusv1.NexusAICapability, f part.Facts) {
	s := &c.Spec
	for i, r := range aiOf(s).AgentRuntimes {
		at := part.Entry(runtimesField, i)
		checkRuntimeAccess(v, at+".access", s, r)
		checkRuntimeVariables(v, at+".env", c, f, r)
		checkImageIsNear(v, at+".image", r.Image, c, f)
	}
}

// checkImageIsNear requires a registry of the account and region of the capability.
func checkImageIsNear(v *part.Verdict, at, image string, c *nexusv1.NexusAICapability, f part.Facts) {
	host := strings.Split(image, ".")
	if region := f.RegionOf(c); region != "" {
		v.Require(host[3] == region, at, "the image is in region %s and the capability in %s: AgentCore pulls from its region", host[3], region)
	}
	v.Require(f.Provider.Account == "" || host[0] == f.Provider.Account, at,
		"the image is in account %s and the capability in %s: push it to a repository of that account", host[0], f.Provider.Account)
}

// checkRuntimeAccess requires names of parts that exist before the runtime.
func checkRuntimeAccess(v *part.Verdict, at string, s *nexusv1.NexusAICapabilitySpec, r nexusv1.AgentRuntimeSpec) {
	all := slices.DeleteFunc(v.Parts.Accessible(s), func(entry string) bool {
		return strings.HasPrefix(entry, ofRuntimes+"/") || strings.HasPrefix(entry, glue.OfGlue+"/")
	})
	for i, name := range r.Access {
		v.Require(len(part.MeantBy(name, all)) > 0, part.Entry(at, i), "%q is nothing that an agent runtime can use: %s", name,
			v.Parts.InsteadOf(name, s, all))
	}
}

func checkRuntimeVariables(v *part.Verdict, at string, c *nexusv1.NexusAICapability, f part.Facts, r nexusv1.AgentRuntimeSpec) {
	for i, e := range r.Env {
		v.Require(!strings.HasPrefix(e.Name, "NEXUS_") && !strings.HasPrefix(e.Name, "AWS_"), part.Entry(at, i)+".name",
			"%q begins with NEXUS_ or AWS_, which the operator and AWS set", e.Name)
	}
	if v.First != nil {
		return
	}
	all := len(runtimeVariables(part.NewCompiler(v.Parts, c, f), r))
	v.Require(all <= maxRuntimeVariables, at, "%s", fmt.Sprintf("the agent has %d variables with those of what it may use, and AWS allows %d: shorten env or access", all, maxRuntimeVariables))
}
