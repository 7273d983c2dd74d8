// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"context"
	"slices"
	"time"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// nextLook returns when to look again at an object that is as declared: after the check interval, or after the retry interval of stalled
// objects while a note reports a problem that a person has to repair.
func (r *Reconciler) nextLook(obj v1alpha1.Resource, notes []kind.Note) time.Duration {
	if slices.ContainsFunc(notes, func(n kind.Note) bool { return n.Recheck }) {
		return min(r.interval(), r.Intervals.Stalled)
	}
	return r.intervalOf(obj)
}

// oidcProvider binds the look-up of IAM OIDC providers to a session. A person who asks for a check of the object gets a new answer.
func (r *Reconciler) oidcProvider(ctx context.Context, session *awsclient.Session, obj v1alpha1.Resource) func(string) (kind.OIDCProvider,
	error) {
	asked := obj.CommonStatus().LastHandledReconcileAt != engine.ReconcileRequestOf(obj)
	every, retry := r.agesOfOIDCProvider(asked)
	return func(issuer string) (kind.OIDCProvider, error) { return session.OIDCProvider(ctx, issuer, every, retry) }
}

// agesOfOIDCProvider returns how long an answer is kept: one that lets pods sign in, and any other. It is a little shorter than the
// interval of those who ask, so that each of their looks finds a new one. The checks of one request share an answer.
func (r *Reconciler) agesOfOIDCProvider(asked bool) (every, retry time.Duration) {
	const share, request = 0.8, 5 * time.Second
	if asked {
		return request, request
	}
	return time.Duration(share * float64(r.Intervals.Check)), time.Duration(share * float64(r.Intervals.Stalled))
}
