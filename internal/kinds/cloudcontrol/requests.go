// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudcontrol"
	"github.com/aws/aws-sdk-go-v2/service/cloudcontrol/types"
	"github.com/aws/smithy-go"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsschema"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// progress asks how far a request is; nil where the status records none, and where AWS does not know it any more.
func (r *resource) progress(ctx context.Context, request *v1alpha1.AWSResourceRequest) (*types.ProgressEvent, error) {
	if request == nil {
		return nil, nil
	}
	out, err := r.api.GetResourceRequestStatus(ctx, &cloudcontrol.GetResourceRequestStatusInput{RequestToken: &request.Token})
	if _, forgotten := errors.AsType[*types.RequestTokenNotFoundException](err); forgotten {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return out.ProgressEvent, nil
}

// isUnderWay reports whether AWS still works on a request.
func isUnderWay(state types.OperationStatus) bool {
	return state == types.OperationStatusPending || state == types.OperationStatusInProgress || state == types.OperationStatusCancelInProgress
}

// operations are the handlers of requests.
var operations = map[types.Operation]awsschema.Operation{types.OperationCreate: awsschema.Create, types.OperationUpdate: awsschema.Update, types.OperationDelete: awsschema.Delete}

// progressOf describes the progress of a request, and says when its handler takes longer than the schema of the type allows it.
func (s State) progressOf(event *types.ProgressEvent) string {
	text := "the request to " + string(event.Operation) + " the resource is " + string(event.OperationStatus)
	allowed := s.schema.Handlers.Timeout(operations[event.Operation])
	if s.Request == nil || s.Request.Since == nil || event.EventTime == nil || event.EventTime.Sub(s.Request.Since.Time) <= allowed {
		return text
	}
	return text + " since " + s.Request.Since.UTC().Format(time.RFC3339) + ", longer than the " + allowed.String() + " that AWS allows its handler; where it hangs, end it with 'aws cloudcontrol cancel-resource-request --request-token " + s.Request.Token + "'"
}

// passing are error codes of a create that may leave its resource: the handler did not refuse, but did not finish.
var passing = []types.HandlerErrorCode{
	types.HandlerErrorCodeGeneralServiceException, types.HandlerErrorCodeServiceInternalError, types.HandlerErrorCodeInternalFailure,
	types.HandlerErrorCodeNetworkFailure, types.HandlerErrorCodeServiceTimeout, types.HandlerErrorCodeThrottling,
}

// createdBy returns the identifier of the resource that a request created; empty where it created none. A create that ends with
// NotStabilized has made the resource.
func (s State) createdBy(event *types.ProgressEvent) string {
	if event == nil || event.Operation != types.OperationCreate {
		return ""
	}
	id := aws.ToString(event.Identifier)
	if event.OperationStatus == types.OperationStatusSuccess || event.ErrorCode == types.HandlerErrorCodeNotStabilized || slices.Contains(passing, event.ErrorCode) && s.isNew(id) {
		return id
	}
	return ""
}

// isNew reports whether no resource can have had an identifier before AWS assigned it: it consists of nothing that the object declares.
// One that contains a declared name may be that of another owner's resource.
func (s State) isNew(id string) bool {
	isIn := func(text string) bool { return len(text) > 2 && strings.Contains(id, text) }
	return !s.schema.Identity.IsNamed && !slices.ContainsFunc(s.declared, isIn)
}

// failedAsExisting reports whether a create failed because the resource exists.
func failedAsExisting(event *types.ProgressEvent) bool {
	return event != nil && event.Operation == types.OperationCreate && event.OperationStatus == types.OperationStatusFailed && event.ErrorCode == types.HandlerErrorCodeAlreadyExists
}

// actions are the IAM actions of operations.
var actions = map[types.Operation]string{types.OperationCreate: actionCreate, types.OperationUpdate: actionUpdate, types.OperationDelete: actionDelete}

// failureOf returns the failure of a request that ended without success, without secrets; nil for every other. While the object is being
// deleted, nothing tells which secrets the text of an earlier request may have.
func (s State) failureOf(event *types.ProgressEvent) *kind.FailedRequest {
	if event != nil && s.Properties == nil && event.Operation != types.OperationDelete {
		shown := *event
		shown.StatusMessage = nil
		event = &shown
	}
	err := errorOf(event)
	if err == nil {
		return nil
	}
	return &kind.FailedRequest{Request: aws.ToString(event.RequestToken), Action: actions[event.Operation], Creates: event.Operation == types.OperationCreate, Err: s.withoutSecrets(names[event.Operation], err)}
}

// names are the names of the calls of operations.
var names = map[types.Operation]string{types.OperationCreate: "CreateResource", types.OperationUpdate: "UpdateResource", types.OperationDelete: "DeleteResource"}

// errorOf returns the failure in a progress event as the error of the call that began the request, with the code of the handler and the
// text of AWS; nil where the request did not fail.
func errorOf(event *types.ProgressEvent) error {
	if event == nil || event.OperationStatus != types.OperationStatusFailed && event.OperationStatus != types.OperationStatusCancelComplete {
		return nil
	}
	code := cmp.Or(string(event.ErrorCode), "RequestCanceled")
	return &smithy.OperationError{ServiceID: cloudcontrol.ServiceID, OperationName: names[event.Operation],
		Err: &smithy.GenericAPIError{Code: code, Message: cmp.Or(aws.ToString(event.StatusMessage), "the request ended with "+code)}}
}

// accepted returns the part of an answer that must be stored. The next look finds out whether the request failed.
func (s State) accepted(event *types.ProgressEvent) kind.Accepted {
	if event == nil {
		return kind.Accepted{}
	}
	return kind.Accepted{ID: s.createdBy(event), Request: aws.ToString(event.RequestToken), Operation: string(event.Operation)}
}
