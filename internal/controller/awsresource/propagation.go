// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/internal/awsclient"
)

// propagation is how long AWS may go on not knowing a role, or a policy, before that is no longer put
// down to IAM's slowness but to the role itself.
const propagation = 2 * time.Minute

// Explain implements engine.Host.
func (p *pass) Explain(err error, action string) error {
	if _, kube := errors.AsType[*apierrors.StatusError](err); kube { // see stillCurrent
		return fmt.Errorf("reading the object again before %s: %w", action, err)
	}
	if awsclient.IsPaced(err) {
		return p.waitForTurn(err)
	}
	if !awsclient.Is(err, awsclient.Propagating) {
		return awsclient.Explain(err, action)
	}
	p.propagating = true
	key, now := client.ObjectKeyFromObject(p.obj), p.r.Clock.Now()
	since, known := p.r.refusals.Due(key)
	switch {
	case !known:
		p.r.refusals.Set(key, now)
	case now.Sub(since) > propagation:
		return awsclient.Refused(err, action)
	}
	return awsclient.Explain(err, action)
}

// recordPropagation forgets since when AWS has refused a role, once a pass met no such refusal.
func (p *pass) recordPropagation() {
	if !p.propagating {
		p.r.refusals.Forget(client.ObjectKeyFromObject(p.obj))
	}
}
