// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// lambdaService holds what moto does not know of functions.
type lambdaService struct {
	base
	functions     map[string]*lambdaFunction // by identity
	functionsFail string                     // why their updates fail
	functionsTake time.Duration              // how long they are Pending, and their updates in progress
	// The state that functions show, why they show no variables, and the tag of images that do not exist; empty as they are.
	functionState, variablesHidden, imagesMissing string
}

func (s *lambdaService) Facts() *Facts {
	return &Facts{
		Prefix:   "lambda",
		Requests: RequestFacts{Decode: decodeLambda},
		Errors: ErrorFacts{
			Missing:   map[string]awsError{"": {http.StatusNotFound, resourceNotFound, "Function not found: %s"}},
			Throttled: tooManyRequests,
		},
		Writes: WriteFacts{Data: []string{"Invoke"}, TagReads: []tagRead{{op: "GetFunction", where: "Tags"}}},
		Rights: RightFacts{
			Namings:  map[string]naming{"lambda function:*": {members: []string{"@"}}},
			NotNamed: map[string]string{"lambda:GetLayerVersion lambda layer:*:*": "Lambda asks for it when a function is made with layers"},
			Dependents: []dependent{
				tagging("lambda:CreateFunction", "lambda:TagResource", "lambda function:*"),
				{action: "lambda:CreateFunction", needs: "ec2:DescribeSecurityGroups", with: "VpcConfig", page: lambdaRights},
				{action: "lambda:CreateFunction", needs: "ec2:DescribeSubnets", with: "VpcConfig", page: lambdaRights},
				{action: "lambda:CreateFunction", needs: "ec2:DescribeVpcs", with: "VpcConfig", page: lambdaRights},
				hands("lambda:CreateFunction", "Role", "lambda"), hands("lambda:UpdateFunctionConfiguration", "Role", "lambda"),
				encrypted("lambda:CreateFunction", "KMSKeyArn", "lambda", "kms:CreateGrant", "kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey"),
				encrypted("lambda:UpdateFunctionConfiguration", "KMSKeyArn", "lambda", "kms:CreateGrant", "kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey"),
				{action: "lambda:GetFunction", needs: "kms:Decrypt", on: keyOfFunction, page: usersOfKeys},
				{action: "lambda:CreateFunction", needs: "lambda:PassCapacityProvider", never: "there is no field for capacity providers"},
				{action: "lambda:GetFunction", needs: "lambda:ListTags", at: []string{"lambda function:*"}, page: "without it GetFunction answers with TagsError"},
				{action: "lambda:CreateFunction", needs: "lambda:GetLayerVersion", with: "Layers", page: lambdaRights, on: func(q *asker) []demand {
					var out []demand
					for _, layer := range q.values("Layers") {
						out = append(out, q.need("lambda:GetLayerVersion", layer, nil))
					}
					return out
				}},
				ofImage("ecr:BatchGetImage", lambdaRights), ofImage("ecr:GetDownloadUrlForLayer", lambdaRights),
				// Lambda lets itself read the repository in whose policy it is not allowed yet.
				ofImage("ecr:GetRepositoryPolicy", imageRights), ofImage("ecr:SetRepositoryPolicy", imageRights),
			},
		},
		Inventory: []inventoryKind{{"lambda/function", false, listFunctions}},
		Rewrites: []Rewrite{{Kind: "LambdaFunction", Field: "kmsKeyArn", What: "the ARN of an alias becomes that of its key", ops: []string{"GetFunction"},
			members: func(body map[string]any) {
				configuration, _ := body["Configuration"].(map[string]any)
				if before, _, isAlias := strings.Cut(text(configuration["KMSKeyArn"]), ":alias/"); isAlias {
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

func (s *lambdaService) Corrections() []Correction {
	return []Correction{
		{Name: "images that do not exist", Ops: []string{"CreateFunction", "UpdateFunctionCode"}, Before: s.refuseMissingImage},
		{Name: "functions that Lambda changes", Ops: []string{"UpdateFunctionCode", "UpdateFunctionConfiguration", "PutFunctionConcurrency"}, Before: s.refuseFunctionRequest},
		{Name: "settings and states of functions", Ops: []string{"CreateFunction", "UpdateFunctionCode", "UpdateFunctionConfiguration", "PutFunctionConcurrency",
			"DeleteFunctionConcurrency", "DeleteFunction"}, After: s.recordFunction},
		{Name: "settings and states of functions", Ops: []string{"GetFunction", "GetFunctionConfiguration"}, After: s.showFunction},
	}
}

func (s *lambdaService) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.functions, s.functionsTake = map[string]*lambdaFunction{}, 0
	s.functionState, s.variablesHidden, s.imagesMissing = "", "", ""
}

// lambdaFunction holds what moto does not know of a function.
type lambdaFunction struct {
	settings map[string]any // of requests, by the names that answers give them
	reserved any            // nil without a reservation
	until    time.Time      // when it is no longer Pending, or its update ends
	isNew    bool
	failure  string // why its last update failed
}

// SetFunctionUpdatesFail lets updates of functions fail from now on, with a reason. Empty, the default, lets them succeed.
func (s *lambdaService) SetFunctionUpdatesFail(why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.functionsFail = why
}

// SetVariablesHidden lets Lambda show an error in the place of the environment variables of functions, as it does to callers who may not
// use the key. Empty, the default, shows them.
func (s *lambdaService) SetVariablesHidden(code string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.variablesHidden = code
}

// SetFunctionState puts functions into a state. Empty, the default, is the one that they have.
func (s *lambdaService) SetFunctionState(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.functionState = name
}

// SetFunctionsTake lets functions be Pending, and their updates be in progress, for so long. Zero, the default, is no time.
func (s *lambdaService) SetFunctionsTake(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.functionsTake = d
}

// lambdaRoutes are the operations of Lambda by method and path without the version of the API, in which * is a function.
// https://docs.aws.amazon.com/lambda/latest/api/API_Operations.html
var lambdaRoutes = map[string]string{
	"POST functions": "CreateFunction", "GET functions": "ListFunctions", "GET functions/*": "GetFunction", "DELETE functions/*": "DeleteFunction",
	"PUT functions/*/code": "UpdateFunctionCode", "PUT functions/*/configuration": "UpdateFunctionConfiguration", "GET functions/*/configuration": "GetFunctionConfiguration",
	"PUT functions/*/concurrency": "PutFunctionConcurrency", "DELETE functions/*/concurrency": "DeleteFunctionConcurrency",
	"GET functions/*/aliases": "ListAliases", "GET functions/*/code-signing-config": "GetFunctionCodeSigningConfig", "GET functions/*/event-invoke-config/list": "ListFunctionEventInvokeConfigs",
	"GET event-source-mappings": "ListEventSourceMappings", "GET functions/*/urls": "ListFunctionUrlConfigs", "GET functions/*/policy": "GetPolicy",
	"GET functions/*/provisioned-concurrency": "ListProvisionedConcurrencyConfigs", "GET functions/*/recursion-config": "GetFunctionRecursionConfig",
	"GET functions/*/runtime-management-config": "GetRuntimeManagementConfig",
	"POST tags/*": "TagResource", "DELETE tags/*": "UntagResource", "GET tags/*": "ListTags",
}

// decodeLambda names a request of Lambda by its function. Requests that it does not know keep their method and path.
func decodeLambda(d *request) {
	parts := strings.Split(strings.Trim(d.http.URL.Path, "/"), "/")[1:]
	name := text(d.json["FunctionName"])
	if len(parts) > 1 {
		name, parts[1] = parts[1][strings.LastIndexByte(parts[1], ':')+1:], "*"
	}
	if op := lambdaRoutes[d.http.Method+" "+strings.Join(parts, "/")]; op != "" {
		d.op, d.resource = op, name
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
func (s *lambdaService) refuseFunctionRequest(_ context.Context, x *exchange) *answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.functions[s.identity(x, "lambda", x.resource)]; f != nil && s.now().Before(f.until) {
		return errorAnswer(x.request, awsError{http.StatusConflict, "ResourceConflictException", "The operation cannot be performed at this time. An update is in progress for resource: " + x.resource})
	}
	return nil
}

// SetImagesMissing lets images of this tag, and archives of this key, not exist. Empty, the default, lets all exist.
func (s *lambdaService) SetImagesMissing(tag string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.imagesMissing = tag
}

// refuseMissingImage: moto takes any image and any archive.
func (s *lambdaService) refuseMissingImage(_ context.Context, x *exchange) *answer {
	code, isCreate := x.json["Code"].(map[string]any)
	if !isCreate {
		code = x.json
	}
	image := text(code["ImageUri"])
	s.mu.Lock()
	defer s.mu.Unlock()
	if key := s.imagesMissing; key != "" && text(code["S3Key"]) == key {
		return errorAnswer(x.request, awsError{http.StatusBadRequest, "InvalidParameterValueException",
			"Error occurred while GetObject. S3 Error Code: NoSuchKey. S3 Error Message: The specified key does not exist."})
	}
	if tag := s.imagesMissing; tag != "" && strings.HasSuffix(image, ":"+tag) {
		return errorAnswer(x.request, awsError{http.StatusBadRequest, "InvalidParameterValueException", "Source image " + image + " does not exist. Provide a valid source image."})
	}
	return nil
}

// recordFunction keeps what moto drops, and begins an update.
func (s *lambdaService) recordFunction(ctx context.Context, x *exchange, a *answer) *answer {
	if !a.ok() {
		return a
	}
	s.mu.Lock()
	id := s.identity(x, "lambda", x.resource)
	if x.op == "CreateFunction" || s.functions[id] == nil {
		s.functions[id] = &lambdaFunction{settings: map[string]any{}}
	}
	f := s.functions[id]
	for _, name := range overlooked[x.op] {
		switch v, ok := x.json[name]; {
		case ok && name == "ImageConfig":
			f.settings["ImageConfigResponse"] = map[string]any{name: v}
		case ok:
			f.settings[name] = v
		}
	}
	switch x.op {
	case "PutFunctionConcurrency":
		f.reserved = x.json["ReservedConcurrentExecutions"]
	case "DeleteFunctionConcurrency":
		f.reserved = nil
	case "DeleteFunction":
		delete(s.functions, id)
	default:
		f.until, f.isNew = s.now().Add(s.functionsTake), x.op == "CreateFunction"
		if f.failure = ""; strings.HasPrefix(x.op, "Update") {
			f.failure = s.functionsFail
		}
	}
	s.mu.Unlock()
	return s.showFunction(ctx, x, a)
}

// showFunction: moto drops some settings and a reservation of 0, and its functions are always Active.
func (s *lambdaService) showFunction(_ context.Context, x *exchange, a *answer) *answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.functions[s.identity(x, "lambda", x.resource)]
	body, ok := decodeJSON(a.body).(map[string]any)
	if f == nil || !ok || !a.ok() || strings.HasSuffix(x.op, "Concurrency") {
		return a
	}
	configuration := body
	if inner, found := body["Configuration"].(map[string]any); found {
		configuration = inner
	}
	for name, v := range f.settings {
		configuration[name] = v
	}
	if f.reserved != nil && x.op == "GetFunction" {
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
	if s.now().Before(f.until) {
		if f.isNew {
			configuration["State"] = "Pending"
		}
		configuration["LastUpdateStatus"] = "InProgress"
	}
	return a.withJSON(body)
}

// listFunctions lists the names of functions.
func listFunctions(ctx context.Context, l *lister) ([]string, error) {
	text, err := l.get(ctx, "lambda", "/2015-03-31/functions")
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

// keyOfFunction returns what the key of a function takes to show its variables.
func keyOfFunction(q *asker) []demand {
	body, err := q.inside().get(q.ctx, "lambda", "/2015-03-31/functions/"+q.x.resource)
	if err != nil {
		return nil
	}
	function, _ := decodeJSON(body).(map[string]any)
	return throughKMS(q, "lambda", text(member(function, "Configuration.KMSKeyArn")), nil, "kms:Decrypt")
}

// ofImage is a right to the image of a function.
func ofImage(needs, page string) dependent {
	return dependent{action: "lambda:CreateFunction", needs: needs, with: "Code.ImageUri", page: page, on: func(q *asker) []demand {
		registry, rest, _ := strings.Cut(text(member(q.x.json, "Code.ImageUri")), "/")
		name, _, _ := strings.Cut(rest, ":")
		name, _, _ = strings.Cut(name, "@")
		account, _, _ := strings.Cut(registry, ".")
		return []demand{q.need(needs, "arn:"+q.partition()+":ecr:"+q.x.region+":"+account+":repository/"+name, nil)}
	}}
}
