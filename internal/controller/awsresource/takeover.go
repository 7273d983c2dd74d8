// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// takeOverPoll is the interval between two checks whether the object's capability declares it. The answer comes with the next pass of the
// capability, which deletes the object or brings it up to date.
const takeOverPoll = 2 * time.Second

// MayTakeOver implements engine.Host. An operator that was stopped and resumed may create an object of a capability that is gone, or that
// dropped it since. That object is deleted soon, with its deletion policy of that time, and its deletion would include resources that the
// capability keeps. So the API server itself is asked whether the capability exists and declares the object; an object without a capability
// belongs to a person, who may.
func (p *pass) MayTakeOver(ctx context.Context) (bool, error) {
	owner := metav1.GetControllerOf(p.obj)
	if owner == nil || owner.Kind != "NexusAICapability" {
		return true, nil
	}
	c := &nexusv1.NexusAICapability{}
	err := p.r.Live.Get(ctx, client.ObjectKey{Namespace: p.obj.GetNamespace(), Name: owner.Name}, c)
	if client.IgnoreNotFound(err) != nil {
		return false, err
	}
	exists := err == nil && c.UID == owner.UID
	if p.obj.GetDeletionTimestamp() != nil {
		return exists, nil
	}
	if exists && c.DeletionTimestamp == nil {
		declared, err := p.isDeclaredBy(ctx, c)
		if declared || err != nil {
			return declared, err
		}
	}
	return false, &status.Waiting{Reason: status.ReasonWaiting, After: takeOverPoll, For: fmt.Sprintf(
		"NexusAICapability %s, which metadata.ownerReferences names, to declare this object: its AWS resource was left by an earlier object of this name", owner.Name)}
}

// isDeclaredBy reports whether a capability declares the object as it is. While the cache does not show the capability as it is, the error
// is a conflict, and the object is looked at again.
func (p *pass) isDeclaredBy(ctx context.Context, c *nexusv1.NexusAICapability) (bool, error) {
	cached, err := p.r.CapabilityOf(ctx, p.obj)
	if err != nil {
		return false, err
	}
	if cached == nil || cached.Generation != c.Generation {
		return false, apierrors.NewConflict(schema.GroupResource{Group: nexusv1.GroupVersion.Group, Resource: "nexusaicapabilities"}, c.Name,
			errors.New("the cache does not show it as it is"))
	}
	return p.r.Sessions.Provenance.IsGenerated(ctx, p.obj)
}
