// SPDX-License-Identifier: Apache-2.0

package emulator

import "encoding/json"

// cloudformationService is CloudFormation with Cloud Control. It keeps nothing.
type cloudformationService struct{ base }

func (s *cloudformationService) Facts() *Facts {
	return &Facts{
		Prefix: "cloudformation",
		Requests: RequestFacts{SigningNames: []string{"cloudcontrolapi"}, Resource: func(op string, body map[string]any) (string, bool) {
			return controlledResource(op, body), true
		}},
		Writes: WriteFacts{
			Data: []string{"DescribeType"},
			CreatedID: func(x *exchange, a *answer) string {
				if x.op != "CreateResource" {
					return ""
				}
				return controlledID(a)
			},
		},
		Events: EventFacts{Source: func(x *exchange) string {
			if x.json["TypeName"] != nil {
				return "cloudcontrolapi"
			}
			return "cloudformation"
		}},
	}
}

// controlledResource names what a request to Cloud Control is about: the type and the identifier, the type alone for a creation, or the
// request that is asked for.
func controlledResource(op string, body map[string]any) string {
	name, identifier := text(body["TypeName"]), text(body["Identifier"])
	switch {
	case op == "ListResources":
		return ""
	case name == "":
		return text(body["RequestToken"])
	case identifier == "":
		return name
	default:
		return name + "/" + identifier
	}
}

// controlledID returns the name of the resource that a request to Cloud Control creates; "" while its identifier is not known.
func controlledID(a *answer) string {
	var body struct {
		ProgressEvent struct{ TypeName, Identifier string }
	}
	if json.Unmarshal(a.body, &body) != nil || body.ProgressEvent.Identifier == "" {
		return ""
	}
	return body.ProgressEvent.TypeName + "/" + body.ProgressEvent.Identifier
}
