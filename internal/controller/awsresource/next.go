// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"context"
	"slices"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// nextLook returns when to look again at an object that is as declared: after the check interval, or after the
// retry interval of stalled objects while a note reports what a person has to repair.
func (r *Reconciler) nextLook(notes []kind.Note) time.Duration {
	if slices.ContainsFunc(notes, func(n kind.Note) bool { return n.Recheck }) {
		return min(r.interval(), r.Intervals.Stalled)
	}
	return r.interval()
}

// oidcProvider binds the look-up of IAM OIDC providers to a session. The answer is kept a little shorter than the
// interval of those who ask for it, so that each of their looks finds a new one.
func (r *Reconciler) oidcProvider(ctx context.Context, session *awsclient.Session) func(string) (kind.OIDCProvider, error) {
	const share = 0.8
	every, retry := time.Duration(share*float64(r.Intervals.Check)), time.Duration(share*float64(r.Intervals.Stalled))
	return func(issuer string) (kind.OIDCProvider, error) { return session.OIDCProvider(ctx, issuer, every, retry) }
}
