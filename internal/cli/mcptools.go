// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/inspect"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/ui"
)

// listLimit bounds a list for an assistant unless it asks for another number.
const listLimit = 200

// The inputs of the tools. The comments of their fields are for the assistant.
type (
	listInput struct {
		Namespace     string   `json:"namespace,omitempty" jsonschema:"namespace of the objects; default: that of the kubeconfig's context"`
		AllNamespaces bool     `json:"allNamespaces,omitempty" jsonschema:"look in every namespace, and at cluster-scoped objects"`
		Kinds         []string `json:"kinds,omitempty" jsonschema:"kinds to list, such as NexusAICapability or S3Bucket; default: all kinds of Nexus Operator"`
		Phase         string   `json:"phase,omitempty" jsonschema:"list capabilities in this phase only, such as Running or Failed"`
		Ready         *bool    `json:"ready,omitempty" jsonschema:"list objects that are ready, or those that are not; default: both"`
		Limit         int      `json:"limit,omitempty" jsonschema:"number of objects to list at most; default 200"`
	}
	statusInput struct {
		Objects   []string `json:"objects,omitempty" jsonschema:"objects as KIND/NAME, such as ncap/shop or s3bucket/logs; without any, the health of the operator"`
		Namespace string   `json:"namespace,omitempty" jsonschema:"namespace of the objects; default: that of the kubeconfig's context"`
	}
	objectInput struct {
		Object    string `json:"object" jsonschema:"the object as KIND/NAME, such as ncap/shop"`
		Namespace string `json:"namespace,omitempty" jsonschema:"namespace of the object; default: that of the kubeconfig's context"`
	}
	driftInput struct {
		Namespace     string `json:"namespace,omitempty" jsonschema:"namespace of the objects; default: that of the kubeconfig's context"`
		AllNamespaces bool   `json:"allNamespaces,omitempty" jsonschema:"look in every namespace"`
	}
	planInput struct {
		Manifest  string `json:"manifest" jsonschema:"text of the manifest, as YAML or JSON; several documents are divided by ---"`
		Namespace string `json:"namespace,omitempty" jsonschema:"namespace of objects that name none; objects of another one are refused"`
		Delete    bool   `json:"delete,omitempty" jsonschema:"plan what follows when the objects of the manifest are deleted"`
		SkipAWS   bool   `json:"skipAWS,omitempty" jsonschema:"compare Kubernetes objects only, without AWS credentials"`
	}
	validateInput struct {
		Manifest  string `json:"manifest" jsonschema:"text of the manifest, as YAML or JSON; several documents are divided by ---"`
		Namespace string `json:"namespace,omitempty" jsonschema:"namespace of objects that name none"`
	}
	reasonsInput struct {
		Code string `json:"code,omitempty" jsonschema:"an error code such as NX-IAM-001, or a reason such as AccessDenied; default: all of them"`
	}
)

// addTo adds the tools to a server.
func (t *mcpTools) addTo(server *mcp.Server) {
	addReader(server, "list",
		"List NexusAICapability objects, AWS resource objects, security intents and their bindings, with phase, readiness, reason and message. "+
			"Filter by namespace, kind, phase and readiness. Same as nexusctl list -o json.",
		func(ctx context.Context, in listInput) (*mcp.CallToolResult, any, error) {
			return t.run(ctx, ui.Question{Command: "list", Namespace: in.Namespace, Flags: listFlagsOf(in), Names: in.Kinds})
		})
	addReader(server, "status",
		"Show the conditions of objects, or, without objects, the health of the operator. Same as nexusctl status -o json.",
		func(ctx context.Context, in statusInput) (*mcp.CallToolResult, any, error) {
			return t.run(ctx, ui.Question{Command: "status", Namespace: in.Namespace, Names: in.Objects})
		})
	addReader(server, "tree",
		"Show an object with everything below it: AWS resources with their ARN, Kubernetes objects, pods and policies, each with its health. Same as nexusctl tree -o json.",
		func(ctx context.Context, in objectInput) (*mcp.CallToolResult, any, error) {
			return t.run(ctx, ui.Question{Command: "tree", Namespace: in.Namespace, Names: []string{in.Object}})
		})
	addReader(server, "explain",
		"Say why an object is not ready: the cause, the evidence, the remedy and commands that help. Same as nexusctl explain -o json.",
		func(ctx context.Context, in objectInput) (*mcp.CallToolResult, any, error) {
			return t.run(ctx, ui.Question{Command: "explain", Namespace: in.Namespace, Names: []string{in.Object}})
		})
	addReader(server, "drift", "List the fields in which AWS differs from what objects declare. Same as nexusctl drift -o json.",
		func(ctx context.Context, in driftInput) (*mcp.CallToolResult, any, error) {
			return t.run(ctx, ui.Question{Command: "drift", Namespace: in.Namespace,
				Flags: flagsOf(map[string]bool{"all-namespaces": in.AllNamespaces})})
		})
	addReader(server, "plan",
		"Show what the operator would do in Kubernetes and AWS when a manifest is applied, field by field, and change nothing. Same as nexusctl plan -f - -o json.",
		func(ctx context.Context, in planInput) (*mcp.CallToolResult, any, error) {
			flags := append([]string{"--filename=-"}, flagsOf(map[string]bool{"delete": in.Delete, "skip-aws": in.SkipAWS})...)
			return t.run(ctx, ui.Question{Command: "plan", Namespace: in.Namespace, Flags: flags, Stdin: in.Manifest})
		})
	addReader(server, "validate",
		"Check a manifest against schemas, rules and the operator's own checks, without a cluster. Same as nexusctl validate -f - -o json.",
		func(ctx context.Context, in validateInput) (*mcp.CallToolResult, any, error) {
			return t.run(ctx, ui.Question{Command: "validate", Namespace: in.Namespace, Flags: []string{"--filename=-"}, Stdin: in.Manifest})
		})
	addReader(server, "reasons", "Explain error codes and reasons of conditions, with cause and remedy.",
		func(_ context.Context, in reasonsInput) (*mcp.CallToolResult, any, error) { return reasons(in.Code) })
}

// addReader adds a tool that only reads.
func addReader[In any](server *mcp.Server, name, description string, read func(context.Context, In) (*mcp.CallToolResult, any, error)) {
	never := false
	mcp.AddTool(server, &mcp.Tool{Name: name, Description: description,
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: &never}},
		func(ctx context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
			return read(ctx, in)
		})
}

// listFlagsOf are the flags of nexusctl list for an input.
func listFlagsOf(in listInput) []string {
	flags := append([]string{"--phase=" + in.Phase, fmt.Sprintf("--limit=%d", cmp.Or(in.Limit, listLimit))},
		flagsOf(map[string]bool{"all-namespaces": in.AllNamespaces})...)
	if in.Ready != nil {
		flags = append(flags, fmt.Sprintf("--ready=%t", *in.Ready))
	}
	return flags
}

// codeList lists error codes with their causes and remedies.
type codeList struct {
	APIVersion string        `json:"apiVersion"`
	Kind       string        `json:"kind"`
	Codes      []status.Code `json:"codes"`
}

// reasons explains the codes of an ID or a reason; all of them when it is empty.
func reasons(idOrReason string) (*mcp.CallToolResult, any, error) {
	found := codesOf(idOrReason)
	if len(found.Codes) == 0 {
		return nil, nil, exit.Usage("code: %q is neither an error code nor a reason that has one", idOrReason)
	}
	return answerWith(found)
}

func codesOf(idOrReason string) codeList {
	out := codeList{APIVersion: inspect.APIVersion, Kind: "ErrorCodeList"}
	for _, c := range status.Codes() {
		if idOrReason == "" || strings.EqualFold(c.ID, idOrReason) || strings.EqualFold(c.Reason, idOrReason) {
			out.Codes = append(out.Codes, c)
		}
	}
	return out
}

// answerWith makes an answer of data.
func answerWith(data any) (*mcp.CallToolResult, any, error) {
	b, err := json.Marshal(data)
	if err != nil {
		return nil, nil, err
	}
	return answerOf(b, "")
}
