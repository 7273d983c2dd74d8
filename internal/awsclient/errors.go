// SPDX-License-Identifier: Apache-2.0

package awsclient

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// Class is the meaning of a failed AWS call for the object that made it.
type Class = kind.ErrorClass

// The classes of failure.
const (
	// Unknown: the answer has no meaning, for example because it is not from AWS. It is retried, and never taken for "not found".
	Unknown Class = "Unknown"
	// NotFound: the resource, or the part of it asked for, is not there.
	NotFound Class = "NotFound"
	// Missing: the request names something of another owner that AWS does not find, such as an image that is not pushed yet.
	Missing Class = "Missing"
	// Exists: a create found a resource of that name in our own account.
	Exists Class = "Exists"
	// NameTaken: the name is global and another owner's, or our own in another region.
	NameTaken Class = "NameTaken"
	// Conflict: another write came between, or a token was used for another request.
	Conflict Class = "Conflict"
	// Throttled: AWS, or our own limiter, wants fewer calls.
	Throttled Class = "Throttled"
	// Denied: the identity is known and may not do this.
	Denied Class = "Denied"
	// Unauthenticated: AWS does not know the credentials, or their signature is wrong.
	Unauthenticated Class = "Unauthenticated"
	// Expired: the credentials were good once.
	Expired Class = "Expired"
	// Invalid: the request can never succeed as it is. So is every 4xx of AWS with a code that has no row.
	Invalid Class = "Invalid"
	// Transient: servers, networks and races that pass.
	Transient Class = "Transient"
	// Busy: AWS is still at work on the resource.
	Busy Class = "Busy"
	// Propagating: AWS does not see a role, a policy or another change yet, or it is wrong. Transient for the time of its
	// row (see PropagationTime), refused after that (see Refused).
	Propagating Class = "Propagating"
	// Limit: a quota that waiting does not lift.
	Limit Class = "Limit"
	// NotEmpty: something inside or attached must go before the resource can.
	NotEmpty Class = "NotEmpty"
	// Protected: deletion protection is on.
	Protected Class = "Protected"
	// ScheduledForDeletion: the name is held by a resource in its recovery window.
	ScheduledForDeletion Class = "ScheduledForDeletion"
)

// Failure is an AWS error, read.
type Failure struct {
	Class Class
	// Service is the SDK's service id in lower case without spaces, such as "secretsmanager".
	Service string
	// Operation is the API operation, such as "CreateBucket".
	Operation string
	// Code and Message are AWS's own; empty when the answer was none of the service's protocol.
	Code, Message string
	// Status is the HTTP status; 0 when there was no answer.
	Status int
	// RequestID is for logs and support cases, never for conditions.
	RequestID string
	// After says how long AWS asks to wait at least; 0 when it does not say.
	After time.Duration
}

// unknownCode is the code that the SDK uses when an error answer has none.
const unknownCode = "UnknownError"

// Classify reads an error of an SDK client. The innermost operation counts: when a bucket cannot be
// made because the role could not be assumed, the failure is that of sts AssumeRole.
func Classify(err error) Failure { return classify(err, "", "") }

// Is reports whether err is a failed AWS call of that class.
func Is(err error, class Class) bool { return err != nil && Classify(err).Class == class }

// FoundExisting reports whether AWS refused a create because the account has a resource of the name, in use or in its
// recovery window.
func FoundExisting(err error) bool { return Is(err, Exists) || Is(err, ScheduledForDeletion) }

// gaveUp are the codes of requests that AWS gave up on.
const gaveUp = "RequestTimeout|RequestCanceled|OperationTimeout|DependencyTimeout"

// HadNoEffect reports whether AWS answered that it did not carry out the call, or the call was never sent. Each call is sent
// once, so that an answer is about this very request. Errors without an answer, errors of AWS's servers, and those of a
// request that AWS gave up on, say nothing of the effect.
func HadNoEffect(err error) bool {
	if _, kept := errors.AsType[*notSentError](err); kept {
		return true
	}
	f := Classify(err)
	switch f.Class {
	case NotFound, Missing, NameTaken, Throttled, Denied, Unauthenticated, Expired, Invalid, Propagating, Limit, NotEmpty, Protected,
		ScheduledForDeletion:
		return true
	default:
		return f.Status >= http.StatusBadRequest && f.Status < http.StatusInternalServerError && f.Status != http.StatusRequestTimeout &&
			f.Code != "" && !isMadeUp(f) && !matchesAnyOf(gaveUp, normalizeCode(f.Code))
	}
}

// IsNotFound reports whether err is one of AWS's own "not found" answers: never any other error, and
// never a 404 that a proxy or an emulator made.
func IsNotFound(err error) bool { return Is(err, NotFound) }

// classify is Classify for a call with a known operation that err does not carry yet.
func classify(err error, service, operation string) Failure {
	if err == nil {
		return Failure{}
	}
	f := Failure{Service: service, Operation: operation}
	var op *smithy.OperationError
	for errors.As(err, &op) {
		f.Service, f.Operation, err = serviceName(op.ServiceID), op.OperationName, op.Err
	}
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		f.Code, f.Message = api.ErrorCode(), api.ErrorMessage()
	}
	if f.Code == unknownCode {
		f.Code, f.Message = "", ""
	}
	if answer, ok := errors.AsType[*smithyhttp.ResponseError](err); ok && answer.Response != nil {
		f.Status = answer.HTTPStatusCode()
		if isWebPage(answer.Response.Header) {
			f.Code, f.Message = "", ""
		}
	}
	if id, ok := errors.AsType[interface {
		error
		ServiceRequestID() string
	}](err); ok {
		f.RequestID = id.ServiceRequestID()
	}
	if r, ok := lookupError(f); ok {
		f.Class, f.After = r.class, r.after
		return f
	}
	f.Class = classOfCause(err, f)
	return f
}

// isWebPage says that a proxy or an emulator answered, not AWS. The S3 client derives a code from the status of an answer that it cannot
// read, and such a "not found" would make a bucket twice.
func isWebPage(h http.Header) bool {
	return strings.HasPrefix(h.Get("Content-Type"), "text/html") && h.Get("X-Amz-Request-Id") == "" && h.Get("X-Amzn-Requestid") == ""
}

// classOfCause classifies errors that have no row: errors made on this side of the wire, and codes that are new to us. AWS means a 4xx for
// good, so that trying again at once helps as little as with a code that we know.
func classOfCause(err error, f Failure) Class {
	status := f.Status
	switch {
	case isType[*pacedError](err):
		return Throttled
	case isType[smithy.InvalidParamsError](err), isType[*smithy.SerializationError](err):
		return Invalid
	case status >= http.StatusInternalServerError:
		return Transient
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly:
		return Transient
	case status >= http.StatusBadRequest && f.Code != "" && !isMadeUp(f):
		return Invalid
	case status >= http.StatusBadRequest:
		return Unknown
	case isType[*smithy.DeserializationError](err), transportFailure(err) != "":
		return Transient
	}
	return Unknown
}

// isMadeUp says that the code is the text of the status: the S3 client makes one up for an answer without a body.
func isMadeUp(f Failure) bool {
	return f.Code == strings.ReplaceAll(http.StatusText(f.Status), " ", "")
}

// noAnswer is the text of a transport failure without an answer.
const noAnswer = "no answer in time"

// transportFailure names the fault between AWS and us, in words that stay the same from one attempt to the next: no address, no port, no
// time. Empty for no such fault.
func transportFailure(err error) string {
	switch {
	case errors.Is(err, context.Canceled):
		return "the call was cut short"
	case errors.Is(err, context.DeadlineExceeded), isOpenCircuit(err):
		return noAnswer
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return dnsTrouble(dns)
	}
	if timeout, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](err); ok && timeout.Timeout() {
		return noAnswer
	}
	return brokenConnection(err)
}

// endpointOf returns the endpoint of the failed call, in parentheses; empty if the error does not name it. An endpoint is the name that a
// person configured, not the address behind it, and stays the same from one attempt to the next.
func endpointOf(err error) string {
	sent, ok := errors.AsType[*url.Error](err)
	if !ok {
		return ""
	}
	to, err := url.Parse(sent.URL)
	if err != nil || to.Host == "" {
		return ""
	}
	return " (" + to.Scheme + "://" + to.Host + ")"
}

func dnsTrouble(err *net.DNSError) string {
	if err.IsNotFound {
		return "no such host: check region and endpoint"
	}
	return "name resolution fails"
}

// brokenConnection reads faults that only the text of the error names: net and tls wrap the causes too variously, and the SDK does the same
// (aws/retry.RetryableConnectionError).
func brokenConnection(err error) string {
	text := err.Error()
	for _, known := range []struct{ part, words string }{
		{"connection refused", "connection refused"},
		{"connection reset", "connection reset"},
		{"use of closed network connection", "connection reset"},
		{"broken pipe", "connection reset"},
		{"x509:", "the server's certificate is not trusted"},
		{"tls:", "the TLS handshake failed"},
		{"server gave HTTP response to HTTPS client", "the TLS handshake failed"},
		{"no route to host", "network unreachable"},
		{"network is unreachable", "network unreachable"},
	} {
		if strings.Contains(text, known.part) {
			return known.words
		}
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "connection closed early"
	}
	if isType[*smithyhttp.RequestSendError](err) || isType[net.Error](err) {
		return "connection failed"
	}
	return ""
}

func isType[T error](err error) bool {
	_, ok := errors.AsType[T](err)
	return ok
}

// serviceName makes a label of an SDK service id: "Secrets Manager" is "secretsmanager".
func serviceName(id string) string { return strings.ToLower(strings.ReplaceAll(id, " ", "")) }
