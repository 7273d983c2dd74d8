// SPDX-License-Identifier: Apache-2.0

package status

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// The words of the API server for a webhook that does not answer: one that judges requests, or one that converts objects.
// https://github.com/kubernetes/kubernetes/blob/v1.35.0/staging/src/k8s.io/apiserver/pkg/admission/plugin/webhook/errors/statuserror.go
var (
	webhookCall    = regexp.MustCompile(`failed calling webhook "([^"]+)"|conversion webhook for (.+?) failed: `)
	webhookService = regexp.MustCompile(`https://([a-z0-9]([-a-z0-9]*[a-z0-9])?)\.([a-z0-9]([-a-z0-9]*[a-z0-9])?)\.svc[:/.]`)
)

// failedWebhook returns the failure of the webhook of another controller, which the API server reports as an internal error of its
// own, or nil.
func failedWebhook(err error) *Retrying {
	var s apierrors.APIStatus
	if !errors.As(err, &s) || s.Status().Code != http.StatusInternalServerError {
		return nil
	}
	call := webhookCall.FindStringSubmatch(err.Error())
	if call == nil {
		return nil
	}
	name := "webhook " + call[1]
	if call[1] == "" {
		name = "the conversion webhook of " + call[2]
	}
	remedy := "see kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations"
	if at := webhookService.FindStringSubmatch(err.Error()); at != nil {
		name += fmt.Sprintf(" (Service %s/%s)", at[3], at[1])
		remedy = "see kubectl get pods,endpointslices -n " + at[3]
	}
	return &Retrying{Reason: ReasonWebhookFailing,
		Cause: fmt.Errorf("%s of another controller does not answer: %s; the API server says: %w", name, remedy, err)}
}
