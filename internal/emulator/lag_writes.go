// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// dataOps are operations on the content of resources, which do not change
// settings and do not lag.
var dataOps = []string{
	"PutItem", "GetItem", "UpdateItem", "DeleteItem", "Query", "Scan", "BatchWriteItem", "BatchGetItem", "TransactWriteItems", "TransactGetItems",
	"SendMessage", "SendMessageBatch", "ReceiveMessage", "DeleteMessage", "DeleteMessageBatch", "Publish",
	"Encrypt", "Decrypt", "GenerateDataKey", "Sign", "Verify", "Invoke", "DescribeType",
}

func isData(x *exchange) bool { return x.key != "" || slices.Contains(dataOps, x.op) }

// idempotentCreates are creations that succeed and change nothing if the
// resource exists.
var idempotentCreates = []string{"sqs.CreateQueue", "sns.CreateTopic", "logs.CreateLogGroup", "ecs.CreateCluster"}

// createdIDs are creations in JSON whose resource is named by AWS: where the
// name is in the answer. Those of EC2 are found by their noun.
var createdIDs = map[string]string{
	"kms.CreateKey":              "KeyMetadata.KeyId",
	"cognito-idp.CreateUserPool": "UserPool.Id",
	"acm.RequestCertificate":     "CertificateArn",

	"eks.CreatePodIdentityAssociation": "association.associationId",
}

// ec2IDs are the elements of ids that differ from the noun: of the group of
// CreateSecurityGroup, the instance of RunInstances, and the allocation of AllocateAddress.
var ec2IDs = map[string]string{"CreateSecurityGroup": "groupId", "RunInstances": "instanceId", "AllocateAddress": "allocationId"}

// endings are the deletions of what was created by operations that do not begin with Create.
var endings = map[string]string{"AllocateAddress": "ReleaseAddress", "ImportKeyPair": "DeleteKeyPair", "RunInstances": "TerminateInstances", "RequestCertificate": "DeleteCertificate"}

// createdID returns the id that AWS has given to a new resource; "" if the
// request names it.
func createdID(x *exchange, a *answer) string {
	if path, ok := createdIDs[x.service+"."+x.op]; ok {
		parsed := map[string]any{}
		_ = json.Unmarshal(a.body, &parsed)
		return shortName(text(member(parsed, path)))
	}
	switch x.op {
	case "CreateHostedZone":
		return firstMatch(zoneID, a.body)
	case "CreateResource":
		return controlledID(a)
	}
	if x.service != "ec2" {
		return ""
	}
	element, ok := ec2IDs[x.op]
	if noun := strings.TrimPrefix(x.op, "Create"); !ok && noun != x.op && noun != "" {
		element = strings.ToLower(noun[:1]) + noun[1:] + "Id"
	}
	if element == "" {
		return ""
	}
	m := regexp.MustCompile("<" + element + ">([^<]+)</").FindSubmatch(a.body)
	if m == nil {
		return ""
	}
	return string(m[1])
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

func isCreation(x *exchange) bool {
	if x.op == "PutParameter" {
		return x.json["Overwrite"] != true
	}
	return strings.HasPrefix(x.op, "Create") && x.op != "CreateTags" || endings[x.op] != ""
}

// noun returns what an operation creates.
func noun(op string) string {
	return strings.TrimPrefix(strings.TrimPrefix(op, "Create"), "Put")
}

// recordWrite records what a request has created, changed or deleted. The same
// creation with the same client token changes nothing.
func recordWrite(_ context.Context, p *Proxy, x *exchange, a *answer) *answer {
	if !a.ok() || x.existed || !isWrite(x.op) || isData(x) {
		return a
	}
	s := &p.state
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.identity(x, x.service, x.resource)
	if token := text(member(x.json, "ClientRequestToken")); token != "" && isCreation(x) {
		if s.tokens[id+"|"+token] {
			return a
		}
		s.tokens[id+"|"+token] = true
	}
	s.seq++
	l := s.lag.of(x.service)
	newID := createdID(x, a)
	for _, name := range x.names() {
		if name != "" {
			s.recordWriteTo(s.historyOf(s.identity(x, x.service, name)), x, l, newID == "")
		}
	}
	if newID != "" {
		s.recordCreation(s.historyOf(s.identity(x, x.service, newID)), noun(x.op), l)
	}
	s.recordWriteToLists(x)
	return a
}

// recordWriteToLists records a write for reads that name no resource: those of
// the service and of the tagging API.
func (s *state) recordWriteToLists(x *exchange) {
	for _, service := range []string{x.service, "tag"} {
		l, h := s.lag.of(service), s.historyOf(s.identity(x, service, ""))
		s.touch(h, updated, l.Lists)
		if setsTags(x) {
			s.touch(h, tagged, l.Tags.Window)
		}
	}
}

// recordWriteTo records a write to one resource, which it may create.
func (s *state) recordWriteTo(h *history, x *exchange, l Lag, mayCreate bool) {
	again := h.exists && h.noun != "" && (h.noun != noun(x.op) || slices.Contains(idempotentCreates, x.service+"."+x.op))
	switch {
	case mayCreate && isCreation(x) && !again:
		s.recordCreation(h, noun(x.op), l)
	case h.noun != "" && (x.op == "Delete"+h.noun || x.op == "Delete"+h.noun+"s" || x.op == endings[h.noun]):
		h.last[created], h.last[updated], h.last[tagged] = write{}, write{}, write{}
		if h.exists { // a request to delete what is gone, which fails later, lets nothing appear again
			s.touch(h, deleted, l.Deleted)
		}
		h.exists = false
	default:
		s.touch(h, updated, l.Settings)
		if setsTags(x) {
			s.touch(h, tagged, l.Tags.Window)
		}
	}
}

func (s *state) recordCreation(h *history, what string, l Lag) {
	*h = history{noun: what, exists: true, born: s.seq}
	s.touch(h, created, l.NotFound.AfterCreate)
	s.touch(h, tagged, l.Tags.Window)
}

// recordAccount records the account in which the credentials of an assumed role
// act.
func recordAccount(_ context.Context, p *Proxy, _ *exchange, a *answer) *answer {
	if key, arn := assumedRole(a); key != "" {
		p.state.mu.Lock()
		defer p.state.mu.Unlock()
		p.state.accounts[key] = strings.SplitN(arn, ":", 6)[4]
	}
	return a
}
