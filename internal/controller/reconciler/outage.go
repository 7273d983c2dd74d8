// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/nexus-operator/nexus-operator/internal/status"
)

// outageRetry is the longest pause between retries of work that the API server did not answer.
const outageRetry = 5 * time.Second

// passesSoon reports whether work is tried again soon: the API server, or a webhook that it calls, did not answer.
func passesSoon(err error) bool {
	r, ok := status.AsRetrying(err)
	return ok && r.Reason == status.ReasonWebhookFailing || APIServerUnavailable(err)
}

// APIServerUnavailable reports whether an error is the API server's and passes when it is back. Failures of AWS have kinds of
// their own.
func APIServerUnavailable(err error) bool {
	if _, ok := status.AsRetrying(err); ok {
		return false
	}
	return utilnet.IsConnectionRefused(err) || utilnet.IsConnectionReset(err) || utilnet.IsProbableEOF(err) ||
		apierrors.IsServiceUnavailable(err) || apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err) || apierrors.IsInternalError(err)
}
