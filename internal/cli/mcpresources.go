// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"io/fs"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The addresses of the resources.
const (
	docsURI    = "nexus://docs/"
	reasonsURI = "nexus://reasons"
)

// addMCPResources adds the error codes, and the pages of the documentation.
func addMCPResources(server *mcp.Server, pages fs.FS) error {
	server.AddResource(&mcp.Resource{URI: reasonsURI, Name: "reasons", Title: "Error codes and reasons", MIMEType: "application/json",
		Description: "Every error code with its reason, cause and remedy"}, readReasons)
	server.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: reasonsURI + "/{code}", Name: "reason", Title: "An error code or a reason",
		MIMEType:    "application/json",
		Description: "Cause and remedy of an error code such as NX-IAM-001, or of a reason such as AccessDenied"}, readReasons)
	if pages == nil {
		return nil
	}
	return fs.WalkDir(pages, ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := fs.ReadFile(pages, path)
		if err != nil {
			return err
		}
		addPage(server, path, string(text))
		return nil
	})
}

// addPage adds a page of the documentation. Its title is its first heading.
func addPage(server *mcp.Server, path, text string) {
	uri := docsURI + path
	server.AddResource(&mcp.Resource{URI: uri, Name: path, Title: titleOfPage(path, text), MIMEType: "text/markdown", Size: int64(len(text))},
		func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return contents(uri, "text/markdown", text), nil
		})
}

func titleOfPage(path, text string) string {
	for line := range strings.Lines(text) {
		if title, is := strings.CutPrefix(line, "# "); is {
			return strings.TrimSpace(title)
		}
	}
	return path
}

// readReasons reads the code or the reason that ends the address; all of them when none does.
func readReasons(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	uri := req.Params.URI
	found := codesOf(strings.TrimPrefix(strings.TrimPrefix(uri, reasonsURI), "/"))
	if len(found.Codes) == 0 {
		return nil, mcp.ResourceNotFoundError(uri)
	}
	b, err := json.Marshal(found)
	if err != nil {
		return nil, err
	}
	return contents(uri, "application/json", string(b)), nil
}

func contents(uri, kind, text string) *mcp.ReadResourceResult {
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: kind, Text: text}}}
}
