// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	"fmt"
	"time"
)

// tokenLife is the lifetime of a client token in AWS.
// https://docs.aws.amazon.com/cloudcontrolapi/latest/APIReference/API_CreateResource.html
const tokenLife = 36 * time.Hour

// The states of a request.
const (
	inProgress      = "IN_PROGRESS"
	success         = "SUCCESS"
	failed          = "FAILED"
	cancelCompleted = "CANCEL_COMPLETE"
)

// request is one request to create, change or delete a resource.
type request struct {
	token, operation, typeName string
	key                        string // of the resource; empty while AWS has not assigned the identifier
	identifier                 string
	fingerprint                string // of the client's request
	began, due                 time.Time
	state, code, message       string
	denied                     string // the right that the caller of the handler lacks
	carryOut                   func() // the effect at the end of the request
}

// requests has the requests of all clients, with their progress.
type requests struct {
	now      func() time.Time
	duration time.Duration
	serial   int
	byToken  map[string]*request
	byClient map[string]*request // by region and client token
	failures map[string]Failure  // by operation
}

func newRequests(now func() time.Time) *requests {
	return &requests{now: now, byToken: map[string]*request{}, byClient: map[string]*request{}, failures: map[string]Failure{}}
}

// next returns a number that no other call returns.
func (q *requests) next() int {
	q.serial++
	return q.serial
}

// event is the progress event of a request.
// https://docs.aws.amazon.com/cloudcontrolapi/latest/APIReference/API_ProgressEvent.html
func (q *requests) event(r *request) map[string]any {
	out := map[string]any{
		"TypeName": r.typeName, "RequestToken": r.token, "Operation": r.operation, "OperationStatus": r.state,
		"EventTime": float64(q.now().UnixMilli()) / 1000,
	}
	for name, value := range map[string]string{"Identifier": r.identifier, "ErrorCode": r.code, "StatusMessage": r.message} {
		if value != "" {
			out[name] = value
		}
	}
	if r.identifier != "" { // partial, as that of many handlers
		out["ResourceModel"] = `{"NotTheWholeResource":true}`
	}
	if r.state == inProgress {
		out["RetryAfter"] = float64(r.due.UnixMilli()) / 1000
	}
	return out
}

// begin starts a request, or fails it where a test asked for that. end is called once its time has passed.
func (q *requests) begin(r *request, client string, end func(*request)) map[string]any {
	serial := q.next()
	r.token = fmt.Sprintf("%08x-0000-4000-8000-%012x", serial, serial)
	r.began, r.state = q.now(), inProgress
	r.due = r.began.Add(q.duration)
	f, fails := q.takeFailure(r.operation)
	r.carryOut = func() {
		if r.denied != "" {
			r.fail("AccessDenied", r.denied)
			return
		}
		if !fails || f.Leaves {
			end(r)
		}
		if fails {
			r.state, r.code, r.message = failed, f.Code, f.Message
		}
	}
	q.byToken[r.token] = r
	if client != "" {
		q.byClient[client] = r
	}
	q.settle()
	return q.event(r)
}

// takeFailure returns the failure that the next request of an operation ends with.
func (q *requests) takeFailure(operation string) (Failure, bool) {
	f, ok := q.failures[operation]
	delete(q.failures, operation)
	return f, ok
}

// settle carries out the requests that are due.
func (q *requests) settle() {
	now := q.now()
	for _, r := range q.byToken {
		if r.state == inProgress && !r.due.After(now) {
			r.state = success
			r.carryOut()
		}
	}
}

// fail ends a request with an error code of a handler.
func (r *request) fail(code, message string) {
	r.state, r.code, r.message = failed, code, message
}

// repeated returns the request that a client token began within its life; refused where that had other parameters.
func (q *requests) repeated(client, fingerprint string) (*request, *refusal) {
	r := q.byClient[client]
	switch {
	case client == "" || r == nil || q.now().Sub(r.began) >= tokenLife:
		return nil, nil
	case r.fingerprint != fingerprint:
		return nil, &refusal{"ClientTokenConflictException", "The client token " + client + " was used by a request with other parameters."}
	default:
		return r, nil
	}
}

// busyWith returns the request that is being carried out for a resource; nil for none.
func (q *requests) busyWith(key string) *request {
	for _, r := range q.byToken {
		if r.state == inProgress && r.key == key {
			return r
		}
	}
	return nil
}

// progress answers with the progress of an earlier request; nil without one.
func (q *requests) progress(r *request) any {
	if r == nil {
		return nil
	}
	return map[string]any{"ProgressEvent": q.event(r)}
}

// status answers GetResourceRequestStatus.
func (q *requests) status(in input) (any, *refusal) {
	r := q.byToken[in.RequestToken]
	if r == nil {
		return nil, &refusal{"RequestTokenNotFoundException", "Request with token " + in.RequestToken + " was not found"}
	}
	return map[string]any{"ProgressEvent": q.event(r)}, nil
}

// cancel answers CancelResourceRequest.
func (q *requests) cancel(in input) (any, *refusal) {
	r := q.byToken[in.RequestToken]
	switch {
	case r == nil:
		return nil, &refusal{"RequestTokenNotFoundException", "Request with token " + in.RequestToken + " was not found"}
	case r.state != inProgress:
		return nil, &refusal{"ConcurrentModificationException",
			"Request with token " + in.RequestToken + " is " + r.state + " and cannot be canceled"}
	}
	r.state = cancelCompleted
	return map[string]any{"ProgressEvent": q.event(r)}, nil
}
