// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"encoding/json"
	"net/http"
	"strings"
)

// ResourceNotFound is the code of many services for a resource that does not exist.
const ResourceNotFound = "ResourceNotFoundException"

// MissingError returns the error of a service for a resource that does not exist.
func MissingError(d *Request) Error {
	missing := d.facts().Errors.Missing
	e, ok := missing[d.Op]
	if !ok {
		e, ok = missing[""]
	}
	if !ok {
		e = Error{http.StatusBadRequest, ResourceNotFound, "Requested resource not found: %s"}
	}
	e.Message = strings.ReplaceAll(e.Message, "%s", d.Resource)
	return e
}

// NotFoundAnswer answers that the resource of a request does not exist.
func NotFoundAnswer(d *Request) *Answer {
	a := ErrorAnswer(d, MissingError(d))
	if complete := d.facts().Errors.Answer; complete != nil {
		return complete(d, a)
	}
	return a
}

// isNotFound reports whether an answer says that the resource does not exist.
// Answers to HEAD have no body.
func isNotFound(d *Request, a *Answer) bool {
	if a.OK() {
		isGone := d.facts().Errors.IsGone
		return isGone != nil && isGone(d, a)
	}
	return ErrorCode(a) == MissingError(d).Code || d.HTTP.Method == http.MethodHead && a.Status == http.StatusNotFound
}

// hideResources answers a read as if some of the resources that it names did
// not exist.
func hideResources(d *Request, a *Answer, names []string) *Answer {
	if hide := d.facts().Errors.Hide; hide != nil {
		if hidden := hide(d, a, names); hidden != nil {
			return hidden
		}
	}
	return NotFoundAnswer(d)
}

// WithJSON returns the answer with another body.
func (a *Answer) WithJSON(body any) *Answer {
	text, err := json.Marshal(body)
	if err != nil {
		return a
	}
	return a.WithBody(text)
}

// WithBody returns the answer with another body, without the checksum of DynamoDB.
func (a *Answer) WithBody(body []byte) *Answer {
	header := a.Header.Clone()
	header.Del("X-Amz-Crc32")
	return &Answer{a.Status, header, body}
}
