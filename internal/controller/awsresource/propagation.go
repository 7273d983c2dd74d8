// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/internal/awsclient"
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
		return p.waitForTurn(err)
	}
	if awsclient.LacksAllow(err) && p.tagsMayLag(err) {
		return awsclient.AwaitTags(err, action)
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
	case now.Sub(since) > awsclient.PropagationTime(err): // no longer put down to AWS's slowness, but to what it names
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

// recordTags records that AWS accepted tags of the object's resource, with a create or alone.
func (p *pass) recordTags() {
	p.r.tagged.Set(client.ObjectKeyFromObject(p.obj), p.r.Clock.Now())
}

// tagsMayLag reports whether a right that depends on tags may be refused for want of tags that AWS has accepted already: of the
// object's resource, or of a key that it refers to. A create that failed after AWS had accepted it has left no resource with tags.
func (p *pass) tagsMayLag(err error) bool {
	now := p.r.Clock.Now()
	if strings.Contains(err.Error(), " kms:") && now.Sub(p.newestKey) < tagging {
		return true
	}
	if failed, ok := errors.AsType[*kind.FailedRequest](err); ok && failed.Creates {
		return false
	}
	since, known := p.r.tagged.Due(client.ObjectKeyFromObject(p.obj))
	return known && now.Sub(since) < tagging
}

// isTagging reports whether an action puts tags on a resource.
func isTagging(action string) bool {
	return strings.Contains(action, "Tag") && !strings.Contains(action, "Untag") || action == "cognito-idp:UpdateUserPool"
}
