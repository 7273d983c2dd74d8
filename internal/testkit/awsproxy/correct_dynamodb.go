// SPDX-License-Identifier: Apache-2.0

package awsproxy

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// tableEncryption: moto ignores the encryption that UpdateTable asks for. It is kept here and shown in the answers.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_SSEDescription.html
func tableEncryption(_ context.Context, p *Proxy, x *exchange, a *answer) *answer {
	if a.status != http.StatusOK {
		return a
	}
	wanted, changed := p.state.encryptionOf(x)
	if !changed {
		return a
	}
	var body map[string]map[string]any
	if json.Unmarshal(a.body, &body) != nil {
		return a
	}
	for _, table := range body { // TableDescription or Table
		delete(table, "SSEDescription")
		if enabled, _ := wanted["Enabled"].(bool); enabled {
			key := cmp.Or(text(wanted["KMSMasterKeyId"]), fmt.Sprintf("arn:aws:kms:%s:%s:key/aws-dynamodb", x.region, defaultAccount))
			table["SSEDescription"] = map[string]any{"Status": "ENABLED", "SSEType": "KMS", "KMSMasterKeyArn": key}
		}
	}
	shown, err := json.Marshal(body)
	if err != nil {
		return errorAnswer(x.request, awsError{http.StatusInternalServerError, "ProxyError", err.Error()})
	}
	a.body = shown
	a.header.Del("X-Amz-Crc32")
	return a
}

// encryptionOf returns the encryption that the last UpdateTable of a table asked for, after it recorded the request.
func (s *state) encryptionOf(x *exchange) (wanted map[string]any, changed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.identity(x, x.service, x.resource)
	switch x.op {
	case "CreateTable", "DeleteTable":
		delete(s.encryption, id)
	case "UpdateTable":
		if e, ok := x.json["SSESpecification"].(map[string]any); ok {
			s.encryption[id] = e
		}
	}
	wanted, changed = s.encryption[id]
	return wanted, changed
}
