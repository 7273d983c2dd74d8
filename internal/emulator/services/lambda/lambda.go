// SPDX-License-Identifier: Apache-2.0

// Package lambda holds the emulator's facts and corrections for AWS Lambda.
package lambda

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/emulator/policy"
	"github.com/nexus-operator/nexus-operator/internal/emulator/proxy"
	"github.com/nexus-operator/nexus-operator/internal/emulator/services/iam"
	"github.com/nexus-operator/nexus-operator/internal/emulator/services/kms"
)

// Service holds the state of functions that moto lacks.
type Service struct {
	proxy.Base
	functions     map[string]*lambdaFunction // by identity
	functionsFail string                     // why their updates fail
	functionsTake time.Duration              // how long they are Pending, and their updates in progress
	// The state that functions show, why they show no variables, and the tag of images that do not exist; empty as they are.
	functionState, variablesHidden, imagesMissing string
}

// Facts returns all that the proxy asks of the service.
func (s *Service) Facts() *proxy.Facts {
	return &proxy.Facts{
		Prefix:   "lambda",
		Requests: proxy.RequestFacts{Decode: decodeLambda},
		Errors: proxy.ErrorFacts{
			Missing:   map[string]proxy.Error{"": {Status: http.StatusNotFound, Code: proxy.ResourceNotFound, Message: "Function not found: %s"}},
			Throttled: proxy.TooManyRequests,
		},
		Writes: proxy.WriteFacts{Data: []string{"Invoke"}, TagReads: []proxy.TagRead{{Op: "GetFunction", Where: "Tags"}}},
		Rights: proxy.RightFacts{
			Namings:  map[string]proxy.Naming{"lambda function:*": {Members: []string{"@"}}},
			NotNamed: map[string]string{"lambda:GetLayerVersion lambda layer:*:*": "Lambda asks for it when a function is made with layers"},
			Dependents: []proxy.Dependent{
				proxy.Tagging("lambda:CreateFunction", "lambda:TagResource", "lambda function:*"),
				{Action: "lambda:CreateFunction", Needs: "ec2:DescribeSecurityGroups", With: "VpcConfig", Page: lambdaRights},
				{Action: "lambda:CreateFunction", Needs: "ec2:DescribeSubnets", With: "VpcConfig", Page: lambdaRights},
				{Action: "lambda:CreateFunction", Needs: "ec2:DescribeVpcs", With: "VpcConfig", Page: lambdaRights},
				iam.Hands("lambda:CreateFunction", "Role", "lambda"), iam.Hands("lambda:UpdateFunctionConfiguration", "Role", "lambda"),
				kms.Encrypted("lambda:CreateFunction", "KMSKeyArn", "lambda", "kms:CreateGrant", "kms:Decrypt", "kms:DescribeKey", "kms:Encrypt",
					"kms:GenerateDataKey"),
				kms.Encrypted("lambda:UpdateFunctionConfiguration", "KMSKeyArn", "lambda", "kms:CreateGrant", "kms:Decrypt", "kms:DescribeKey",
					"kms:Encrypt", "kms:GenerateDataKey"),
				{Action: "lambda:GetFunction", Needs: "kms:Decrypt", On: keyOfFunction, Page: proxy.UsersOfKeys},
				{Action: "lambda:CreateFunction", Needs: "lambda:PassCapacityProvider", Never: "there is no field for capacity providers"},
				{Action: "lambda:GetFunction", Needs: "lambda:ListTags", At: []string{"lambda function:*"},
					Page: "without it GetFunction answers with TagsError"},
				{Action: "lambda:CreateFunction", Needs: "lambda:GetLayerVersion", With: "Layers", Page: lambdaRights,
					On: func(q *proxy.Asker) []policy.Demand {
						var out []policy.Demand
						for _, layer := range q.Values("Layers") {
							out = append(out, q.Need("lambda:GetLayerVersion", layer, nil))
						}
						return out
					}},
				ofImage("ecr:BatchGetImage", lambdaRights), ofImage("ecr:GetDownloadUrlForLayer", lambdaRights),
				// Lambda adds itself to the policy of a repository that does not allow it to read yet.
				ofImage("ecr:GetRepositoryPolicy", imageRights), ofImage("ecr:SetRepositoryPolicy", imageRights),
			},
		},
		Inventory: []proxy.InventoryKind{{Name: "lambda/function", Global: false, List: listFunctions}},
		Rewrites: []proxy.Rewrite{{Kind: "LambdaFunction", Field: "kmsKeyArn", What: "the ARN of an alias becomes that of its key",
			Ops: []string{"GetFunction"},
			Members: func(body map[string]any) {
				configuration, _ := body["Configuration"].(map[string]any)
				if before, _, isAlias := strings.Cut(proxy.Text(configuration["KMSKeyArn"]), ":alias/"); isAlias {
					configuration["KMSKeyArn"] = before + ":key/0d0d0d0d-0000-4000-8000-00000000000a"
				}
			}}},
		Unset: map[string]string{
			"ListFunctionUrlConfigs":            `{"FunctionUrlConfigs": []}`,
			"ListProvisionedConcurrencyConfigs": `{"ProvisionedConcurrencyConfigs": []}`,
			"GetFunctionRecursionConfig":        `{"RecursiveLoop": "Terminate"}`,
			"GetRuntimeManagementConfig":        `{"UpdateRuntimeOn": "Auto"}`,
		},
	}
}

const (
	lambdaRights = "https://docs.aws.amazon.com/lambda/latest/dg/lambda-api-permissions-ref.html"
	imageRights  = "https://docs.aws.amazon.com/lambda/latest/dg/images-create.html#gettingstarted-images-permissions"
)

// Corrections returns the deviations of moto that the service makes up for.
func (s *Service) Corrections() []proxy.Correction {
	return []proxy.Correction{
		{Name: "images that do not exist", Ops: []string{"CreateFunction", "UpdateFunctionCode"}, Before: s.refuseMissingImage},
		{Name: "functions that Lambda changes",
			Ops: []string{"UpdateFunctionCode", "UpdateFunctionConfiguration", "PutFunctionConcurrency"}, Before: s.refuseFunctionRequest},
		{Name: "settings and states of functions",
			Ops: []string{"CreateFunction", "UpdateFunctionCode", "UpdateFunctionConfiguration", "PutFunctionConcurrency",
				"DeleteFunctionConcurrency", "DeleteFunction"}, After: s.recordFunction},
		{Name: "settings and states of functions", Ops: []string{"GetFunction", "GetFunctionConfiguration"}, After: s.showFunction},
	}
}

// Reset forgets the state.
func (s *Service) Reset() {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.functions, s.functionsTake = map[string]*lambdaFunction{}, 0
	s.functionState, s.functionsFail, s.variablesHidden, s.imagesMissing = "", "", "", ""
}

// lambdaFunction holds the state of a function that moto lacks.
type lambdaFunction struct {
	settings map[string]any // of requests, by the names that answers give them
	reserved any            // nil without a reservation
	until    time.Time      // when it is no longer Pending, or its update ends
	isNew    bool
	failure  string // why its last update failed
}

// SetFunctionUpdatesFail lets updates of functions fail from now on, with a reason. Empty, the default, lets them succeed.
func (s *Service) SetFunctionUpdatesFail(why string) { s.Locked(func() { s.functionsFail = why }) }

// SetVariablesHidden lets Lambda show an error in the place of the environment variables of functions, as it does to callers who may not
// use the key. Empty, the default, shows them.
func (s *Service) SetVariablesHidden(code string) { s.Locked(func() { s.variablesHidden = code }) }

// SetFunctionState puts functions into a state. Empty, the default, is the one that they have.
func (s *Service) SetFunctionState(name string) { s.Locked(func() { s.functionState = name }) }

// SetFunctionsTake lets functions be Pending, and their updates be in progress, for so long. Zero, the default, is no time.
func (s *Service) SetFunctionsTake(d time.Duration) { s.Locked(func() { s.functionsTake = d }) }

// lambdaRoutes are the operations of Lambda by method and path without the version of the API. A * in the path is a function.
// https://docs.aws.amazon.com/lambda/latest/api/API_Operations.html
var lambdaRoutes = map[string]string{
	"POST functions": "CreateFunction", "GET functions": "ListFunctions", "GET functions/*": "GetFunction",
	"DELETE functions/*":   "DeleteFunction",
	"PUT functions/*/code": "UpdateFunctionCode", "PUT functions/*/configuration": "UpdateFunctionConfiguration",
	"GET functions/*/configuration": "GetFunctionConfiguration",
	"PUT functions/*/concurrency":   "PutFunctionConcurrency", "DELETE functions/*/concurrency": "DeleteFunctionConcurrency",
	"GET functions/*/aliases": "ListAliases", "GET functions/*/code-signing-config": "GetFunctionCodeSigningConfig",
	"GET functions/*/event-invoke-config/list": "ListFunctionEventInvokeConfigs",
	"GET event-source-mappings":                "ListEventSourceMappings", "GET functions/*/urls": "ListFunctionUrlConfigs",
	"GET functions/*/policy":                    "GetPolicy",
	"GET functions/*/provisioned-concurrency":   "ListProvisionedConcurrencyConfigs",
	"GET functions/*/recursion-config":          "GetFunctionRecursionConfig",
	"GET functions/*/runtime-management-config": "GetRuntimeManagementConfig",
	"POST tags/*": "TagResource", "DELETE tags/*": "UntagResource", "GET tags/*": "ListTags",
}

// decodeLambda names a request of Lambda by its function. Requests that it does not know keep their method and path.
func decodeLambda(d *proxy.Request) {
	parts := strings.Split(strings.Trim(d.HTTP.URL.Path, "/"), "/")[1:]
	name := proxy.Text(d.JSON["FunctionName"])
	if len(parts) > 1 {
		name, parts[1] = parts[1][strings.LastIndexByte(parts[1], ':')+1:], "*"
	}
	if op := lambdaRoutes[d.HTTP.Method+" "+strings.Join(parts, "/")]; op != "" {
		d.Op, d.Resource = op, name
	}
}

// overlooked are the settings that moto drops from requests, by the operations that it drops them from.
var overlooked = map[string][]string{
	"CreateFunction":              {"DeadLetterConfig", "KMSKeyArn"},
	"UpdateFunctionConfiguration": {"DeadLetterConfig", "EphemeralStorage", "ImageConfig", "KMSKeyArn", "TracingConfig"},
	"UpdateFunctionCode":          {"Architectures"},
}

// refuseFunctionRequest: moto makes one update while another one is in progress.
// https://docs.aws.amazon.com/lambda/latest/dg/functions-states.html
func (s *Service) refuseFunctionRequest(_ context.Context, x *proxy.Exchange) *proxy.Answer {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if f := s.functions[s.Identity(x, "lambda", x.Resource)]; f != nil && s.Now().Before(f.until) {
		return x.Refuse(http.StatusConflict, "ResourceConflictException",
			"The operation cannot be performed at this time. An update is in progress for resource: "+x.Resource)
	}
	return nil
}

// SetImagesMissing lets images of this tag, and archives of this key, not exist. Empty, the default, lets all exist.
func (s *Service) SetImagesMissing(tag string) { s.Locked(func() { s.imagesMissing = tag }) }

// refuseMissingImage: moto takes any image and any archive.
func (s *Service) refuseMissingImage(_ context.Context, x *proxy.Exchange) *proxy.Answer {
	code, isCreate := x.JSON["Code"].(map[string]any)
	if !isCreate {
		code = x.JSON
	}
	image := proxy.Text(code["ImageUri"])
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if key := s.imagesMissing; key != "" && proxy.Text(code["S3Key"]) == key {
		return x.Refuse(http.StatusBadRequest, "InvalidParameterValueException",
			"Error occurred while GetObject. S3 Error Code: NoSuchKey. S3 Error Message: The specified key does not exist.")
	}
	if tag := s.imagesMissing; tag != "" && strings.HasSuffix(image, ":"+tag) {
		return x.Refuse(http.StatusBadRequest, "InvalidParameterValueException",
			"Source image "+image+" does not exist. Provide a valid source image.")
	}
	return nil
}

// recordFunction keeps the members that moto drops, and begins an update.
func (s *Service) recordFunction(ctx context.Context, x *proxy.Exchange, a *proxy.Answer) *proxy.Answer {
	if !a.OK() {
		return a
	}
	s.Mu.Lock()
	id := s.Identity(x, "lambda", x.Resource)
	if x.Op == "CreateFunction" || s.functions[id] == nil {
		s.functions[id] = &lambdaFunction{settings: map[string]any{}}
	}
	f := s.functions[id]
	for _, name := range overlooked[x.Op] {
		switch v, ok := x.JSON[name]; {
		case ok && name == "ImageConfig":
			f.settings["ImageConfigResponse"] = map[string]any{name: v}
		case ok:
			f.settings[name] = v
		}
	}
	switch x.Op {
	case "PutFunctionConcurrency":
		f.reserved = x.JSON["ReservedConcurrentExecutions"]
	case "DeleteFunctionConcurrency":
		f.reserved = nil
	case "DeleteFunction":
		delete(s.functions, id)
	default:
		f.until, f.isNew = s.Now().Add(s.functionsTake), x.Op == "CreateFunction"
		if f.failure = ""; strings.HasPrefix(x.Op, "Update") {
			f.failure = s.functionsFail
		}
	}
	s.Mu.Unlock()
	return s.showFunction(ctx, x, a)
}

// showFunction: moto drops some settings and a reservation of 0, and its functions are always Active.
func (s *Service) showFunction(_ context.Context, x *proxy.Exchange, a *proxy.Answer) *proxy.Answer {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	f := s.functions[s.Identity(x, "lambda", x.Resource)]
	body, ok := proxy.DecodeJSON(a.Body).(map[string]any)
	if f == nil || !ok || !a.OK() || strings.HasSuffix(x.Op, "Concurrency") {
		return a
	}
	configuration := body
	if inner, found := body["Configuration"].(map[string]any); found {
		configuration = inner
	}
	for name, v := range f.settings {
		configuration[name] = v
	}
	if f.reserved != nil && x.Op == "GetFunction" {
		body["Concurrency"] = map[string]any{"ReservedConcurrentExecutions": f.reserved}
	}
	if _, found := configuration["Environment"]; found && s.variablesHidden != "" {
		configuration["Environment"] = map[string]any{"Error": map[string]any{"ErrorCode": s.variablesHidden,
			"Message": "Lambda was unable to decrypt your environment variables because the KMS access was denied. Please check your KMS permissions."}}
	}
	if s.functionState != "" {
		configuration["State"] = s.functionState
	}
	if f.failure != "" {
		configuration["LastUpdateStatus"], configuration["LastUpdateStatusReason"] = "Failed", f.failure
	}
	if s.Now().Before(f.until) {
		if f.isNew {
			configuration["State"] = "Pending"
		}
		configuration["LastUpdateStatus"] = "InProgress"
	}
	return a.WithJSON(body)
}

// listFunctions lists the names of functions.
func listFunctions(ctx context.Context, l *proxy.Lister) ([]string, error) {
	text, err := l.Get(ctx, "lambda", "/2015-03-31/functions")
	if err != nil {
		return nil, err
	}
	var body struct {
		Functions []struct{ FunctionName string }
	}
	var names []string
	err = json.Unmarshal(text, &body)
	for _, f := range body.Functions {
		names = append(names, f.FunctionName)
	}
	return names, err
}

// keyOfFunction returns the rights that the key of a function takes to show its variables.
func keyOfFunction(q *proxy.Asker) []policy.Demand {
	body, err := q.Inside().Get(q.Ctx, "lambda", "/2015-03-31/functions/"+q.X.Resource)
	if err != nil {
		return nil
	}
	function, _ := proxy.DecodeJSON(body).(map[string]any)
	return kms.Through(q, "lambda", proxy.Text(proxy.Member(function, "Configuration.KMSKeyArn")), nil, "kms:Decrypt")
}

// ofImage is a right to the image of a function.
func ofImage(needs, page string) proxy.Dependent {
	return proxy.Dependent{Action: "lambda:CreateFunction", Needs: needs, With: "Code.ImageUri", Page: page,
		On: func(q *proxy.Asker) []policy.Demand {
			registry, rest, _ := strings.Cut(proxy.Text(proxy.Member(q.X.JSON, "Code.ImageUri")), "/")
			name, _, _ := strings.Cut(rest, ":")
			name, _, _ = strings.Cut(name, "@")
			account, _, _ := strings.Cut(registry, ".")
			return []policy.Demand{q.Need(needs, "arn:"+q.Partition()+":ecr:"+q.X.Region+":"+account+":repository/"+name, nil)}
		}}
}
