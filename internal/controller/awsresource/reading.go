// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"context"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
)

// trustReading is how long a pass relies on an answer of the API server. An older one may come from before the process
// was stopped for a while, or from before a long wait for the rate limit. It is shorter than another instance takes to end
// the deletion of an object: a restore or a create that is sent after that end would leave its resource behind.
const trustReading = 100 * time.Millisecond

// slowAnswers is how many answers in a row may take longer than that. A process that is stopped while it waits gets one
// such answer. An API server that is slow gives nothing else, and must not keep every write from being sent.
const slowAnswers = 3

// reading remembers when the API server last confirmed to a pass that its object exists at its generation. While the
// object exists, nobody else owns its AWS resource.
type reading struct {
	r          *Reconciler
	key        client.ObjectKey
	uid        types.UID
	generation int64

	mu sync.Mutex
	at time.Time
}

func newReading(r *Reconciler, obj v1alpha1.Resource) *reading {
	return &reading{r: r, key: client.ObjectKeyFromObject(obj), uid: obj.GetUID(), generation: obj.GetGeneration()}
}

// confirm notes that the API server accepted a write that names the version of the object and was sent at a time.
func (k *reading) confirm(sent time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.at = sent
}

// stillCurrent asks the API server, before a write to AWS, whether the object exists at its generation, unless that was
// confirmed just before. The cache of a process that was stopped shows what is past: another instance may have ended the
// deletion of the object, and its AWS resource may be that of a new object of the same name. The error is a conflict,
// after which the object is read again.
func (k *reading) stillCurrent(ctx context.Context) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	for range slowAnswers {
		now := k.r.Clock.Now()
		if now.Sub(k.at) < trustReading {
			return nil
		}
		if err := k.ask(ctx); err != nil {
			return err
		}
		// An answer tells of the time at which it was asked for: the process may have been stopped while it was on its way.
		k.at = now
	}
	return nil
}

// ask returns a conflict unless the API server has the object at its generation.
func (k *reading) ask(ctx context.Context) error {
	now := &metav1.PartialObjectMetadata{}
	now.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(k.r.Entry.Name()))
	err := k.r.Live.Get(ctx, k.key, now)
	if apierrors.IsNotFound(err) || err == nil && (now.UID != k.uid || now.Generation != k.generation) {
		return apierrors.NewConflict(schema.GroupResource{Group: v1alpha1.GroupName, Resource: k.r.Entry.Name()}, k.key.Name,
			fmt.Errorf("it changed after generation %d of it was read", k.generation))
	}
	return err
}
