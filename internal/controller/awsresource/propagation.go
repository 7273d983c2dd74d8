// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// tagging is the time that AWS may take before it stops deciding by the earlier tags of a resource.
// https://docs.aws.amazon.com/kms/latest/developerguide/abac.html
const tagging = 5 * time.Minute

// Explain implements engine.Host.
func (p *pass) Explain(err error, action string) error {
	if _, kube := errors.AsType[*apierrors.StatusError](err); kube { // see stillCurrent
		return fmt.Errorf("reading the object again before %s: %w", action, err)
	}
	if awsclient.IsPaced(err) {
		return p.pacing.waitForTurn(err)
	}
	return p.propagation.explain(err, action)
}

// propagation follows what AWS does not know yet everywhere: roles, and tags that decide about rights.
type propagation struct {
	key   client.ObjectKey
	clock clock.PassiveClock
	// refusals and tagged are those of the Reconciler.
	refusals, tagged *reconciler.Schedule
	// newestKey is the creation time of the youngest of the keys that the object refers to.
	newestKey time.Time
	// propagating is true once AWS answered that it does not know a role yet.
	propagating bool
}

func newPropagation(r *Reconciler, obj v1alpha1.Resource) *propagation {
	return &propagation{key: client.ObjectKeyFromObject(obj), clock: r.Clock, refusals: r.refusals, tagged: r.tagged}
}

// explain turns an answer of AWS into a kind of failure: a wait, while AWS may only be slow.
func (p *propagation) explain(err error, action string) error {
	if awsclient.LacksAllow(err) && p.tagsMayLag(err) {
		return awsclient.AwaitTags(err, action)
	}
	if !awsclient.Is(err, awsclient.Propagating) {
		return awsclient.Explain(err, action)
	}
	p.propagating = true
	now := p.clock.Now()
	since, known := p.refusals.Due(p.key)
	switch {
	case !known:
		p.refusals.Set(p.key, now)
	case now.Sub(since) > awsclient.PropagationTime(err): // no longer put down to AWS's slowness, but to what it names
		return awsclient.Refused(err, action)
	}
	return awsclient.Explain(err, action)
}

// record forgets since when AWS has refused a role, once a pass met no such refusal.
func (p *propagation) record() {
	if !p.propagating {
		p.refusals.Forget(p.key)
	}
}

// recordTags records that AWS accepted tags of the object's resource, with a create or alone.
func (p *propagation) recordTags() {
	p.tagged.Set(p.key, p.clock.Now())
}

// tagsMayLag reports whether a right that depends on tags may be refused for want of tags that AWS has accepted already: of the
// object's resource, or of a key that it refers to. A create that failed after AWS had accepted it has left no resource with tags.
func (p *propagation) tagsMayLag(err error) bool {
	now := p.clock.Now()
	if strings.Contains(err.Error(), " kms:") && now.Sub(p.newestKey) < tagging {
		return true
	}
	if failed, ok := errors.AsType[*kind.FailedRequest](err); ok && failed.Creates {
		return false
	}
	since, known := p.tagged.Due(p.key)
	return known && now.Sub(since) < tagging
}

// isTagging reports whether an action puts tags on a resource.
func isTagging(action string) bool {
	return strings.Contains(action, "Tag") && !strings.Contains(action, "Untag") || action == "cognito-idp:UpdateUserPool"
}
