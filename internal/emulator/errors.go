// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// awsError is an error of a service, before it is put into its protocol.
type awsError struct {
	status  int
	code    string
	message string
}

const requestID = "00000000-0000-0000-0000-000000000000"

// errorAnswer renders an error as the service that was asked would.
func errorAnswer(d *request, e awsError) *answer {
	header := http.Header{"X-Amzn-Requestid": {requestID}}
	var body string
	message := escape(e.message)
	switch {
	case d.protocol == protocolS3 && strings.HasSuffix(d.op, "Resource"): // of S3 Control
		header.Set("Content-Type", "application/xml")
		header.Set("X-Amz-Request-Id", requestID)
		body = fmt.Sprintf(`<ErrorResponse><Error><Code>%s</Code><Message>%s</Message></Error><RequestId>%s</RequestId></ErrorResponse>`, e.code, message, requestID)
	case slices.Contains([]protocol{protocolJSON, protocolREST, protocolCBOR}, d.protocol):
		header.Set("Content-Type", "application/x-amz-json-1.1")
		header.Set("X-Amzn-Errortype", e.code)
		text, _ := json.Marshal(map[string]string{"__type": e.code, "message": e.message, "Message": e.message})
		body = string(text)
	case d.protocol == protocolS3:
		header.Set("Content-Type", "application/xml")
		header.Set("X-Amz-Request-Id", requestID)
		body = fmt.Sprintf(`<?xml version="1.0" encoding="UTF-8"?><Error><Code>%s</Code><Message>%s</Message><BucketName>%s</BucketName><RequestId>%s</RequestId></Error>`,
			e.code, message, escape(d.bucket), requestID)
	case d.protocol == protocolEC2:
		header.Set("Content-Type", "text/xml")
		body = fmt.Sprintf(`<Response><Errors><Error><Code>%s</Code><Message>%s</Message></Error></Errors><RequestID>%s</RequestID></Response>`,
			e.code, message, requestID)
	default:
		header.Set("Content-Type", "text/xml")
		body = fmt.Sprintf(`<ErrorResponse><Error><Type>Sender</Type><Code>%s</Code><Message>%s</Message></Error><RequestId>%s</RequestId></ErrorResponse>`,
			e.code, message, requestID)
	}
	return &answer{e.status, header, []byte(body)}
}

func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s))
	return b.String()
}

var xmlCode = regexp.MustCompile(`<Code>([^<]*)</Code>`)

// errorCode finds the AWS error code in an answer; "" if it is no error.
func errorCode(a *answer) string {
	if a.status < 400 {
		return ""
	}
	code := a.header.Get("X-Amzn-Errortype")
	if code == "" {
		code = codeInBody(a.body)
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

// throttling returns what a service says that has had too many requests.
func throttling(d *request) awsError {
	if e := d.facts().Errors.Throttled; e.code != "" {
		return e
	}
	return awsError{http.StatusBadRequest, "ThrottlingException", "Rate exceeded"}
}
