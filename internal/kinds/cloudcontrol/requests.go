// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	"cmp"
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudcontrol"
	"github.com/aws/aws-sdk-go-v2/service/cloudcontrol/types"
	"github.com/aws/smithy-go"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
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

// createdBy returns the identifier of the resource that a request created; empty where it created none. A create that ends with
// NotStabilized has made the resource. One that fails otherwise may have left it behind: an identifier that AWS assigns did not exist before, while one
// that the properties name may be that of somebody else's resource.
func createdBy(event *types.ProgressEvent, isNamed bool) string {
	if event == nil || event.Operation != types.OperationCreate {
		return ""
	}
	mayBeLeft := !isNamed && event.OperationStatus == types.OperationStatusFailed && event.ErrorCode != types.HandlerErrorCodeAlreadyExists
	if event.OperationStatus == types.OperationStatusSuccess || event.ErrorCode == types.HandlerErrorCodeNotStabilized || mayBeLeft {
		return aws.ToString(event.Identifier)
	}
	return ""
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

// accepted returns what must be stored of the answer to a call. The next look finds out whether the request failed.
func (s State) accepted(event *types.ProgressEvent) kind.Accepted {
	if event == nil {
		return kind.Accepted{}
	}
	return kind.Accepted{ID: createdBy(event, s.schema.IsNamed()), Request: aws.ToString(event.RequestToken), Operation: string(event.Operation)}
}
