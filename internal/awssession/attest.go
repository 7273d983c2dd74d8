// SPDX-License-Identifier: Apache-2.0

package awssession

import (
	"fmt"
	"slices"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// checkAttested refuses a session until the provider's own controller has checked and recorded its account. STS named
// the account of exactly these credentials when the session was opened; the provider's status may still speak of
// the credentials before them, because a rotated Secret is read before the status is written.
func checkAttested(provider *v1alpha1.AWSProvider, session *awsclient.Session) error {
	err := AccountAllowed(provider, session)
	if err == nil && (session.Account != provider.Status.AccountID || session.Partition != provider.Status.Partition) {
		err = fmt.Errorf("its credentials now belong to account %s, and its status still names account %s", session.Account,
			provider.Status.AccountID)
	}
	if err == nil {
		return nil
	}
	return &status.Waiting{Reason: status.ReasonProviderNotReady, For: "AWSProvider/" + provider.Name + " to be ready: " + err.Error(),
		After: PollInterval}
}

// AccountAllowed refuses credentials of an account that spec.allowedAccountIDs does not list.
func AccountAllowed(provider *v1alpha1.AWSProvider, session *awsclient.Session) error {
	allowed := provider.Spec.AllowedAccountIDs
	if len(allowed) == 0 || slices.Contains(allowed, v1alpha1.AccountID(session.Account)) {
		return nil
	}
	return &status.Stalled{Reason: status.ReasonAccountNotAllowed, Field: "spec.allowedAccountIDs", Message: fmt.Sprintf(
		"the credentials belong to account %s, which is not listed: use credentials of a listed account, or add %s to the list", session.Account,
		session.Account)}
}
