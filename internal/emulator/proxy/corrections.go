// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bytes"
	"net/http"
	"strings"
)

// showUnset answers for reads of settings that no one made and that moto does not know.
func showUnset(x *Exchange) *Answer {
	f := x.facts()
	if e, known := f.UnsetErrors[x.Op]; known {
		return ErrorAnswer(x.Request, e)
	}
	body, known := f.Unset[x.Op]
	if !known {
		return nil
	}
	return &Answer{http.StatusOK, http.Header{"Content-Type": {contentTypeOf(body)}}, []byte(body)}
}

func contentTypeOf(body string) string {
	if body[0] == '<' {
		return "text/xml"
	}
	return "application/json"
}

// notImplemented: for an operation that it lacks moto answers 500 (REST
// services: 404) with a page of HTML, which clients try again several times and
// then cannot read. AWS has the operation; here the test gets a clear answer at
// once, which no client retries.
func notImplemented(x *Exchange, a *Answer) *Answer {
	if !isErrorPage(a) {
		return a
	}
	return x.Refuse(http.StatusNotImplemented, "NotImplemented",
		"the emulator does not implement "+x.Service+"."+x.Op+", or has failed in it: see its log")
}

func isErrorPage(a *Answer) bool {
	return a.Status == http.StatusInternalServerError && bytes.Contains(a.Body, []byte("<title>500 Internal Server Error</title>")) ||
		a.Status == http.StatusNotFound && bytes.Contains(a.Body, []byte("<title>404 Not Found</title>"))
}

// isRead reports whether an operation changes nothing. The emulator fails in some of these when another request changes the list at the
// same time, as in ssm.DescribeParameters, and answers them when asked again.
func isRead(op string) bool {
	return strings.HasPrefix(op, "Describe") || strings.HasPrefix(op, "Get") || strings.HasPrefix(op, "List")
}
