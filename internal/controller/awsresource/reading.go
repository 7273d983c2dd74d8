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
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
)

// trustReading limits how long a pass relies on an answer of the API server. An older one may come from before the process was stopped for
// a while, or from before a long wait for the rate limit. It is shorter than another instance takes to end the deletion of an object: a
// restore or a create that is sent after that end would leave its resource behind.
const trustReading = 100 * time.Millisecond

// slowAnswers limits the consecutive questions of a pass with slow answers, as if the process had been stopped. A real stop makes one
// answer slow. On an overloaded machine every answer can look like that, and writes must still be sent.
const slowAnswers = 3

// reading remembers when the API server last confirmed to a pass that its object exists at its generation. While the object exists, no
// other owner has its AWS resource.
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

// confirmed sends a write that names the version of the object, and notes that the API server accepted it.
func (k *reading) confirmed(write func() error) error {
	at, err := k.answered(write)
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.at = at
	return nil
}

// answered asks the API server and returns the time that its answer is valid for. If the process was stopped while the answer was on its
// way, that is the time of the question. Otherwise it is the time of the answer: then the API server itself was slow.
func (k *reading) answered(ask func() error) (time.Time, error) {
	at := k.r.Clock.Now()
	steady, err := steadily(k.r.heartbeat, ask)
	if steady {
		at = k.r.Clock.Now()
	}
	return at, err
}

// steadily runs do and reports whether the process ran all the while: a stop of trustReading or longer is noticed.
func steadily(heartbeat clock.WithTicker, do func() error) (bool, error) {
	done, longest, began := make(chan struct{}), make(chan time.Duration), heartbeat.Now()
	go func() { // which may begin to run after a stop
		beat := heartbeat.NewTicker(trustReading / 5)
		defer beat.Stop()
		for last, most := began, time.Duration(0); ; {
			ended := false
			select {
			case <-beat.C():
			case <-done:
				ended = true
			}
			now := heartbeat.Now()
			most, last = max(most, now.Sub(last)), now
			if ended {
				longest <- most
				return
			}
		}
	}()
	err := do()
	close(done)
	return <-longest < trustReading, err
}

// stillCurrent asks the API server, before a write to AWS, whether the object exists at its generation, unless that was confirmed just
// before. The cache of a process that was stopped shows a past state: another instance may have ended the deletion of the object, and its
// AWS resource may be that of a new object of the same name. The error is a conflict. The object is read again after it.
func (k *reading) stillCurrent(ctx context.Context) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	for range slowAnswers {
		if k.r.Clock.Now().Sub(k.at) < trustReading {
			return nil
		}
		at, err := k.answered(func() error { return k.ask(ctx) })
		if err != nil {
			return err
		}
		k.at = at
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
