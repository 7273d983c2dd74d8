// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// lambdaFunction holds what moto does not know of a function.
type lambdaFunction struct {
	settings map[string]any // of requests, by the names that answers give them
	reserved any            // nil without a reservation
	until    time.Time      // when it is no longer Pending, or its update ends
	isNew    bool
	failure  string // why its last update failed
}

// SetFunctionUpdatesFail lets updates of functions fail from now on, with a reason. Empty, the default, lets them succeed.
func (p *Proxy) SetFunctionUpdatesFail(why string) {
	p.state.mu.Lock()
	defer p.state.mu.Unlock()
	p.state.functionsFail = why
}

// SetVariablesHidden lets Lambda show an error in the place of the environment variables of functions, as it does to callers who may not
// use the key. Empty, the default, shows them.
func (p *Proxy) SetVariablesHidden(code string) {
	p.state.mu.Lock()
	defer p.state.mu.Unlock()
	p.state.variablesHidden = code
}

// SetFunctionState puts functions into a state. Empty, the default, is the one that they have.
func (p *Proxy) SetFunctionState(name string) {
	p.state.mu.Lock()
	defer p.state.mu.Unlock()
	p.state.functionState = name
}

// SetFunctionsTake lets functions be Pending, and their updates be in progress, for so long. Zero, the default, is no time.
func (p *Proxy) SetFunctionsTake(d time.Duration) {
	p.state.mu.Lock()
	defer p.state.mu.Unlock()
	p.state.functionsTake = d
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
func (d *request) decodeLambda() {
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
func refuseFunctionRequest(_ context.Context, p *Proxy, x *exchange) *answer {
	s := &p.state
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.functions[s.identity(x, "lambda", x.resource)]; f != nil && s.now().Before(f.until) {
		return errorAnswer(x.request, awsError{http.StatusConflict, "ResourceConflictException", "The operation cannot be performed at this time. An update is in progress for resource: " + x.resource})
	}
	return nil
}

// SetImagesMissing lets images of this tag, and archives of this key, not exist. Empty, the default, lets all exist.
func (p *Proxy) SetImagesMissing(tag string) {
	p.state.mu.Lock()
	defer p.state.mu.Unlock()
	p.state.imagesMissing = tag
}

// refuseMissingImage: moto takes any image and any archive.
func refuseMissingImage(_ context.Context, p *Proxy, x *exchange) *answer {
	code, isCreate := x.json["Code"].(map[string]any)
	if !isCreate {
		code = x.json
	}
	image := text(code["ImageUri"])
	p.state.mu.Lock()
	defer p.state.mu.Unlock()
	if key := p.state.imagesMissing; key != "" && text(code["S3Key"]) == key {
		return errorAnswer(x.request, awsError{http.StatusBadRequest, "InvalidParameterValueException",
			"Error occurred while GetObject. S3 Error Code: NoSuchKey. S3 Error Message: The specified key does not exist."})
	}
	if tag := p.state.imagesMissing; tag != "" && strings.HasSuffix(image, ":"+tag) {
		return errorAnswer(x.request, awsError{http.StatusBadRequest, "InvalidParameterValueException", "Source image " + image + " does not exist. Provide a valid source image."})
	}
	return nil
}

// recordFunction keeps what moto drops, and begins an update.
func recordFunction(ctx context.Context, p *Proxy, x *exchange, a *answer) *answer {
	if !a.ok() {
		return a
	}
	s := &p.state
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
	return showFunction(ctx, p, x, a)
}

// showFunction: moto drops some settings and a reservation of 0, and its functions are always Active.
func showFunction(_ context.Context, p *Proxy, x *exchange, a *answer) *answer {
	s := &p.state
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
