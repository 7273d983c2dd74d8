// SPDX-License-Identifier: Apache-2.0

package emulator

// plainService is one of which there is little to know.
type plainService struct {
	base
	facts Facts
}

func (s *plainService) Facts() *Facts { return &s.facts }

// plainServices are those that the operator uses little, or that tests divert.
func plainServices() []Service {
	return []Service{
		&plainService{facts: Facts{Prefix: "cloudfront", Requests: RequestFacts{REST: protocolXML}, Events: EventFacts{Region: globalRegion}}},
		&plainService{facts: Facts{Prefix: "cloudwatch", Requests: RequestFacts{SigningNames: []string{"monitoring"}},
			Events: EventFacts{Source: func(*exchange) string { return "monitoring" }}}},
		&plainService{facts: Facts{Prefix: "events", Rights: RightFacts{
			Namings:    map[string]naming{"events rule/*": {members: []string{"Name", "Rule"}}},
			Dependents: []dependent{tagging("events:PutRule", "events:TagResource", "events rule/*")},
		}}},
		&plainService{facts: Facts{Prefix: "logs", Requests: RequestFacts{Keys: []string{"LogGroupName", "logGroupName"}},
			Writes: WriteFacts{IdempotentCreates: []string{"CreateLogGroup"}, TagReads: []tagRead{{op: "ListTags*", where: "tags"}}}}},
		&plainService{facts: Facts{Prefix: "ses", Requests: RequestFacts{SigningNames: []string{"email"}}}},
	}
}
