// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// Error is an error of a service, before it is put into its protocol.
type Error struct {
	Status  int
	Code    string
	Message string
}

// RequestID is the identifier of the request in answers that moto did not give.
const RequestID = "00000000-0000-0000-0000-000000000000"

// ErrorAnswer renders an error as the service that was asked would.
func ErrorAnswer(d *Request, e Error) *Answer {
	header := http.Header{"X-Amzn-Requestid": {RequestID}}
	var body string
	message := Escape(e.Message)
	switch {
	case d.Protocol == ProtocolS3 && strings.HasSuffix(d.Op, "Resource"): // of S3 Control
		header.Set("Content-Type", "application/xml")
		header.Set("X-Amz-Request-Id", RequestID)
		body = fmt.Sprintf(`<ErrorResponse><Error><Code>%s</Code><Message>%s</Message></Error><RequestId>%s</RequestId></ErrorResponse>`, e.Code,
			message, RequestID)
	case slices.Contains([]Protocol{protocolJSON, protocolREST, protocolCBOR}, d.Protocol):
		header.Set("Content-Type", "application/x-amz-json-1.1")
		header.Set("X-Amzn-Errortype", e.Code)
		text, _ := json.Marshal(map[string]string{"__type": e.Code, "message": e.Message, "Message": e.Message})
		body = string(text)
	case d.Protocol == ProtocolS3:
		header.Set("Content-Type", "application/xml")
		header.Set("X-Amz-Request-Id", RequestID)
		body = fmt.Sprintf(`<?xml version="1.0" encoding="UTF-8"?><Error><Code>%s</Code><Message>%s</Message><BucketName>%s</BucketName><RequestId>%s</RequestId></Error>`,
			e.Code, message, Escape(d.Bucket), RequestID)
	case d.Protocol == ProtocolEC2:
		header.Set("Content-Type", "text/xml")
		body = fmt.Sprintf(`<Response><Errors><Error><Code>%s</Code><Message>%s</Message></Error></Errors><RequestID>%s</RequestID></Response>`,
			e.Code, message, RequestID)
	default:
		header.Set("Content-Type", "text/xml")
		body = fmt.Sprintf(`<ErrorResponse><Error><Type>Sender</Type><Code>%s</Code><Message>%s</Message></Error><RequestId>%s</RequestId></ErrorResponse>`,
			e.Code, message, RequestID)
	}
	return &Answer{e.Status, header, []byte(body)}
}

// Refuse answers a request with an error.
func (x *Exchange) Refuse(status int, code, message string) *Answer {
	return ErrorAnswer(x.Request, Error{status, code, message})
}

// Escape writes a text as XML.
func Escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s))
	return b.String()
}

var xmlCode = regexp.MustCompile(`<Code>([^<]*)</Code>`)

// ErrorCode finds the AWS error code in an answer; "" if it is no error.
func ErrorCode(a *Answer) string {
	if a.Status < 400 {
		return ""
	}
	code := a.Header.Get("X-Amzn-Errortype")
	if code == "" {
		code = codeInBody(a.Body)
	}
	code, _, _ = strings.Cut(code, ":")
	return code[strings.LastIndexByte(code, '#')+1:]
}

func codeInBody(body []byte) string {
	if m := xmlCode.FindSubmatch(body); m != nil {
		return string(m[1])
	}
	var parsed struct {
		Type string `json:"__type"`
		Code string `json:"code"`
	}
	if json.Unmarshal(body, &parsed) != nil {
		return ""
	}
	if parsed.Type != "" {
		return parsed.Type
	}
	return parsed.Code
}

// throttling returns the error of a service that has received too many requests.
func throttling(d *Request) Error {
	if e := d.facts().Errors.Throttled; e.Code != "" {
		return e
	}
	return Error{http.StatusBadRequest, "ThrottlingException", "Rate exceeded"}
}
