// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"context"
	"time"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// oidcProvider binds the look-up of IAM OIDC providers to a session. A person who asks for a check of the object gets a new answer.
func (r *Reconciler) oidcProvider(ctx context.Context, session *awsclient.Session, obj v1alpha1.Resource) func(string) (kind.OIDCProvider,
	error) {
	asked := obj.CommonStatus().LastHandledReconcileAt != engine.ReconcileRequestOf(obj)
	every, retry := agesOfOIDCProvider(r.Intervals, asked)
	return func(issuer string) (kind.OIDCProvider, error) { return session.OIDCProvider(ctx, issuer, every, retry) }
}

// agesOfOIDCProvider returns how long an answer is kept: one that lets pods sign in, and any other. It is a little shorter than the
// interval of those who ask, so that each of their looks finds a new one. The checks of one request share an answer.
func agesOfOIDCProvider(intervals reconciler.Intervals, asked bool) (every, retry time.Duration) {
	const share, request = 0.8, 5 * time.Second
	if asked {
		return request, request
	}
	return time.Duration(share * float64(intervals.Check)), time.Duration(share * float64(intervals.Stalled))
}
