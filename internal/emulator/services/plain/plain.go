// SPDX-License-Identifier: Apache-2.0

// Package plain holds the facts of services that the emulator knows little about.
package plain

import "github.com/nexus-operator/nexus-operator/internal/emulator/proxy"

// Service is a service with few facts.
type Service struct {
	proxy.Base
	facts proxy.Facts
}

// Facts returns all that the proxy asks of the service.
func (s *Service) Facts() *proxy.Facts { return &s.facts }

// Services returns the services that the operator uses little, or that tests divert.
func Services() []proxy.Service {
	return []proxy.Service{
		&Service{facts: proxy.Facts{Prefix: "cloudfront", Requests: proxy.RequestFacts{REST: proxy.ProtocolXML},
			Events: proxy.EventFacts{Region: proxy.GlobalRegion}}},
		&Service{facts: proxy.Facts{Prefix: "cloudwatch", Requests: proxy.RequestFacts{SigningNames: []string{"monitoring"}},
			Events: proxy.EventFacts{Source: func(*proxy.Exchange) string { return "monitoring" }}}},
		&Service{facts: proxy.Facts{Prefix: "events", Rights: proxy.RightFacts{
			Namings:    map[string]proxy.Naming{"events rule/*": {Members: []string{"Name", "Rule"}}},
			Dependents: []proxy.Dependent{proxy.Tagging("events:PutRule", "events:TagResource", "events rule/*")},
		}}},
		&Service{facts: proxy.Facts{Prefix: "ses", Requests: proxy.RequestFacts{SigningNames: []string{"email"}}}},
	}
}
