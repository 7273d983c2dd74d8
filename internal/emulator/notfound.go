// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"encoding/json"
	"net/http"
	"strings"
)

const resourceNotFound = "ResourceNotFoundException"

// notFound returns what a service says of a resource that does not exist.
func notFound(d *request) awsError {
	missing := d.facts().Errors.Missing
	e, ok := missing[d.op]
	if !ok {
		e, ok = missing[""]
	}
	if !ok {
		e = awsError{http.StatusBadRequest, resourceNotFound, "Requested resource not found: %s"}
	}
	e.message = strings.ReplaceAll(e.message, "%s", d.resource)
	return e
}

func notFoundAnswer(d *request) *answer {
	a := errorAnswer(d, notFound(d))
	if complete := d.facts().Errors.Answer; complete != nil {
		return complete(d, a)
	}
	return a
}

// isNotFound reports whether an answer says that the resource does not exist.
// Answers to HEAD have no body.
func isNotFound(d *request, a *answer) bool {
	if a.ok() {
		isGone := d.facts().Errors.IsGone
		return isGone != nil && isGone(d, a)
	}
	return errorCode(a) == notFound(d).code || d.http.Method == http.MethodHead && a.status == http.StatusNotFound
}

// hideResources answers a read as if some of the resources that it names did
// not exist.
func hideResources(d *request, a *answer, names []string) *answer {
	if hide := d.facts().Errors.Hide; hide != nil {
		if hidden := hide(d, a, names); hidden != nil {
			return hidden
		}
	}
	return notFoundAnswer(d)
}

// withJSON returns the answer with another body.
func (a *answer) withJSON(body any) *answer {
	text, err := json.Marshal(body)
	if err != nil {
		return a
	}
	return a.withBody(text)
}

// withBody returns the answer with another body, without the checksum of DynamoDB.
func (a *answer) withBody(body []byte) *answer {
	header := a.header.Clone()
	header.Del("X-Amz-Crc32")
	return &answer{a.status, header, body}
}
