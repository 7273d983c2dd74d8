// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/nexus-operator/nexus-operator/config/crd"
	"github.com/nexus-operator/nexus-operator/docs"
	"github.com/nexus-operator/nexus-operator/internal/catalog"
	"github.com/nexus-operator/nexus-operator/internal/cli"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// assistant connects a client to nexusctl mcp, without a cluster. The command ends when the client closes its input.
func assistant(t *testing.T) *mcp.ClientSession {
	t.Helper()
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	var errs bytes.Buffer
	p := cli.Program{Kinds: catalog.Kinds, Engines: catalog.Engines, CRDs: crd.Bases, Docs: docs.Pages, Version: "v1.2.3",
		Getenv: func(string) string { return "" }, Clock: clock.RealClock{},
		IOStreams: genericiooptions.IOStreams{In: in, Out: out, ErrOut: &errs}}
	ended := make(chan int, 1)
	go func() {
		code := p.Run(context.WithoutCancel(t.Context()), []string{"nexusctl", "mcp"}) // it ends with its input
		_ = out.Close()
		ended <- code
	}()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(),
		&mcp.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = toServer.Close()
		if code := <-ended; code != 0 || errs.Len() > 0 {
			t.Errorf("exit code %d, %s", code, &errs)
		}
	})
	return session
}

// called returns the text of a tool's answer.
func called(t *testing.T, s *mcp.ClientSession, tool string, in map[string]any) (text string, failed bool) {
	t.Helper()
	r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: in})
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(r.Content)
	if err != nil {
		t.Fatal(err)
	}
	return string(b), r.IsError
}

func TestMCP_EveryToolOnlyReads(t *testing.T) {
	tools, err := assistant(t).ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range tools.Tools {
		names = append(names, tool.Name)
		if a := tool.Annotations; a == nil || !a.ReadOnlyHint || a.DestructiveHint == nil || *a.DestructiveHint || tool.Description == "" {
			t.Errorf("%s: %+v", tool.Name, tool)
		}
	}
	if got := strings.Join(names, " "); got != "drift explain list plan reasons status tree validate" {
		t.Errorf("the tools are %s", got)
	}
}

func TestMCP_WithoutACluster(t *testing.T) {
	s := assistant(t)
	for name, tc := range map[string]struct {
		tool   string
		in     map[string]any
		failed bool
		want   []string
	}{
		"a code": {"reasons", map[string]any{"code": "nx-iam-001"}, false,
			[]string{"AccessDenied", "The identity may not make the call."}},
		"a reason":     {"reasons", map[string]any{"code": "AccessDenied"}, false, []string{"NX-IAM-001"}},
		"no such code": {"reasons", map[string]any{"code": "NX-NO-1"}, true, []string{`code: \"NX-NO-1\"`}},
		"a mistake": {"validate",
			map[string]any{"manifest": "apiVersion: nexus.ai/v1\nkind: NexusAICapability\nmetadata: {name: a}\nspec: {version: 1}\n"}, false,
			[]string{`\"valid\": false`, "spec.version: "}},
		"no YAML": {"validate", map[string]any{"manifest": "kind: {"}, false,
			[]string{`\"valid\": false`, "standard input", "line 1"}},
		"an empty manifest":  {"validate", map[string]any{"manifest": ""}, true, []string{"the input has no objects"}},
		"no cluster":         {"status", nil, true, []string{"no kubeconfig names one", "NX-CLI-002"}},
		"a name like a flag": {"tree", map[string]any{"object": "--kubeconfig=/etc/passwd"}, true, []string{"no kubeconfig names one"}},
		"an unknown field":   {"drift", map[string]any{"everywhere": true}, true, []string{"everywhere"}},
		"a wrong type":       {"list", map[string]any{"limit": "many"}, true, []string{"limit"}},
		"a negative limit":   {"list", map[string]any{"limit": -1}, true, []string{"--limit: -1 is negative"}},
	} {
		text, failed := called(t, s, tc.tool, tc.in)
		for _, want := range tc.want {
			if failed != tc.failed || !strings.Contains(text, want) {
				t.Errorf("%s: failed is %v, and the answer lacks %q:\n%s", name, failed, want, text)
			}
		}
	}
}

func TestMCP_ResourcesAreTheReasonsAndThePages(t *testing.T) {
	s := assistant(t)
	listed, err := s.ListResources(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	pages := 0
	for _, r := range listed.Resources {
		got, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: r.URI})
		if err != nil || len(got.Contents) != 1 || got.Contents[0].MIMEType != r.MIMEType {
			t.Fatalf("%s: %v, %+v", r.URI, err, got)
		}
		path, isPage := strings.CutPrefix(r.URI, "nexus://docs/")
		if !isPage {
			continue
		}
		pages++
		want, err := fs.ReadFile(docs.Pages, path)
		if err != nil || got.Contents[0].Text != string(want) || r.Size != int64(len(want)) || r.Title == path {
			t.Errorf("%s: %v, title %q", r.URI, err, r.Title)
		}
	}
	if pages < 70 {
		t.Errorf("only %d pages", pages)
	}
	for uri, want := range map[string]int{"nexus://reasons": len(status.Codes()), "nexus://reasons/NX-IAM-001": 1,
		"nexus://reasons/AccessDenied": 1} {
		got, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
		if err != nil {
			t.Fatal(err)
		}
		var list struct{ Codes []status.Code }
		if err := json.Unmarshal([]byte(got.Contents[0].Text), &list); err != nil || len(list.Codes) != want || list.Codes[0].Remedy == "" {
			t.Errorf("%s: %v, %d codes", uri, err, len(list.Codes))
		}
	}
	for _, uri := range []string{"nexus://reasons/nothing", "nexus://docs/nothing.md", "nexus://docs/../go.mod"} {
		if got, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}); err == nil || !strings.Contains(err.Error(), "not found") {
			t.Errorf("%s: %v, %+v", uri, err, got)
		}
	}
}
