// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

const (
	// shareOfInterval is the part of the check interval within which checks share a read, and longestShare the most.
	shareOfInterval = 30
	longestShare    = 10 * time.Second
)

// shareTime bounds the age of the read of another check that serves a check.
func (c cadence) shareTime() time.Duration {
	return min(c.interval()/shareOfInterval, longestShare)
}

// checkOf returns the check that is due of an object that is at rest, and nil for a pass with another cause: a change, a request
// by a person, or a provider that could not be used.
func (c cadence) checkOf(obj v1alpha1.Resource) *kind.Check {
	observes := obj.CommonSpec().ManagementPolicy == v1alpha1.ManageObserve
	if observes || !c.isAtRest(obj) || c.due.IsRequested(client.ObjectKeyFromObject(obj)) {
		return nil
	}
	now := c.clock.Now()
	return &kind.Check{At: now, Since: now.Add(-c.shareTime()),
		Upcoming: func(ctx context.Context) []string { return c.upcoming(ctx, obj, now.Add(c.shareTime())) }}
}

// upcoming returns the identifiers of the other objects of the provider that are due for a check before a time.
func (c cadence) upcoming(ctx context.Context, obj v1alpha1.Resource, before time.Time) []string {
	list := reconciler.NewList(c.client, c.entry)
	of := client.MatchingFields{reconciler.ProviderIndex: obj.CommonSpec().ProviderRef.Name}
	if err := c.client.List(ctx, list, client.InNamespace(obj.GetNamespace()), of, client.UnsafeDisableDeepCopy); err != nil {
		return nil // the check is made alone
	}
	var ids []string
	_ = meta.EachListItem(list, func(item runtime.Object) error {
		other := item.(v1alpha1.Resource)
		due, ok := c.due.Due(client.ObjectKeyFromObject(other))
		if id := other.CommonStatus().ID; ok && due.Before(before) && id != "" && other.GetName() != obj.GetName() && c.isAtRest(other) {
			ids = append(ids, id)
		}
		return nil
	})
	return ids
}
