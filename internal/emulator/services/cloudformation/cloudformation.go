// SPDX-License-Identifier: Apache-2.0

// Package cloudformation holds the emulator's facts and corrections for AWS CloudFormation and Cloud Control API.
package cloudformation

import (
	"encoding/json"

	"github.com/nexus-operator/nexus-operator/internal/emulator/proxy"
)

// Service is CloudFormation with Cloud Control. It keeps nothing.
type Service struct{ proxy.Base }

// Facts returns all that the proxy asks of the service.
func (s *Service) Facts() *proxy.Facts {
	return &proxy.Facts{
		Prefix: "cloudformation",
		Requests: proxy.RequestFacts{SigningNames: []string{"cloudcontrolapi"}, Resource: func(op string, body map[string]any) (string, bool) {
			return controlledResource(op, body), true
		}},
		Writes: proxy.WriteFacts{
			Data: []string{"DescribeType"},
			CreatedID: func(x *proxy.Exchange, a *proxy.Answer) string {
				if x.Op != "CreateResource" {
					return ""
				}
				return controlledID(a)
			},
		},
		Events: proxy.EventFacts{Source: func(x *proxy.Exchange) string {
			if x.JSON["TypeName"] != nil {
				return "cloudcontrolapi"
			}
			return "cloudformation"
		}},
	}
}

// controlledResource returns the resource of a request to Cloud Control: the type and the identifier, the type alone for a creation, or the
// token of the request that is asked for.
func controlledResource(op string, body map[string]any) string {
	name, identifier := proxy.Text(body["TypeName"]), proxy.Text(body["Identifier"])
	switch {
	case op == "ListResources":
		return ""
	case name == "":
		return proxy.Text(body["RequestToken"])
	case identifier == "":
		return name
	default:
		return name + "/" + identifier
	}
}

// controlledID returns the name of the resource that a request to Cloud Control creates; "" while its identifier is not known.
func controlledID(a *proxy.Answer) string {
	var body struct {
		ProgressEvent struct{ TypeName, Identifier string }
	}
	if json.Unmarshal(a.Body, &body) != nil || body.ProgressEvent.Identifier == "" {
		return ""
	}
	return body.ProgressEvent.TypeName + "/" + body.ProgressEvent.Identifier
}
