// SPDX-License-Identifier: Apache-2.0

package bed

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/nexus-operator/nexus-operator/internal/testkit/operator"
)

// Pauses between two looks. A look costs the API server and the test processor time, so the pauses grow with the time that was
// waited, by a twentieth of it.
const (
	shortestPause = 50 * time.Millisecond
	longestPause  = 250 * time.Millisecond
)

func pauseAfter(waited time.Duration) time.Duration {
	return min(max(waited/20, shortestPause), longestPause)
}

// Eventually waits until check returns no error.
func (b *Bed) Eventually(within time.Duration, what string, check func() error) {
	b.Helper()
	b.waitWith(within, what, check, time.Sleep)
}

// Until is Eventually for a check of an object. It checks again when the object has changed, and once a second for changes in other places.
func (b *Bed) Until(o client.Object, within time.Duration, what string, check func() error) {
	b.Helper()
	w := &watcher{bed: b, object: o}
	defer w.stop()
	b.waitWith(within, what, check, w.wait)
}

// waitWith calls check until it returns no error, and pause before each further look.
func (b *Bed) waitWith(within time.Duration, what string, check func() error, pause func(time.Duration)) {
	b.Helper()
	for begin := time.Now(); ; {
		err := check()
		if err == nil {
			return
		}
		waited := time.Since(begin)
		if waited > within {
			b.Fatalf("%s: not within %s: %v", what, within, err)
		}
		pause(pauseAfter(waited))
	}
}

// patience sets how long the bed waits for the state of an object. It promises nothing: it ends a test that fails, and on a busy machine
// everything takes several times as long. A test of a promised time measures it, or passes the time to Eventually or Until.
const patience = 2 * time.Minute

// looksBeforeWatch sets how many looks at an object come before it is watched: many waits end with one of them, and cost no watch.
const looksBeforeWatch = 3

// longestWait is the longest wait for a change of an object.
const longestWait = time.Second

// watcher waits for changes of an object.
type watcher struct {
	bed    *Bed
	object client.Object
	looks  int
	// changed holds a token when the object has changed since the last wait; nil: the object is not watched.
	changed chan struct{}
	cancel  context.CancelFunc
}

// wait returns when the object has changed. While it is not watched, wait returns after the pause.
func (w *watcher) wait(pause time.Duration) {
	if w.looks++; w.looks < looksBeforeWatch || w.changed == nil && w.start() != nil {
		time.Sleep(pause)
		return
	}
	select {
	case _, open := <-w.changed:
		if !open {
			w.stop()
		}
		time.Sleep(shortestPause / 2) // changes in a row need one look
	case <-time.After(longestWait):
	}
}

// start watches the metadata of the object. Its present state is the first change.
func (w *watcher) start() error {
	gvk, err := apiutil.GVKForObject(w.object, w.bed.Client.Scheme())
	if err != nil {
		return err
	}
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
	ctx, cancel := context.WithCancel(w.bed.Ctx())
	name := client.MatchingFields{metav1.ObjectNameField: w.object.GetName()}
	events, err := w.bed.Client.Watch(ctx, list, client.InNamespace(w.object.GetNamespace()), name)
	if err != nil {
		cancel()
		return err
	}
	changed := make(chan struct{}, 1)
	go func() {
		defer close(changed)
		for range events.ResultChan() {
			select {
			case changed <- struct{}{}:
			default: // one token stands for all changes
			}
		}
	}()
	w.changed, w.cancel = changed, func() { events.Stop(); cancel() }
	return nil
}

// stop ends the watch; a further wait begins another.
func (w *watcher) stop() {
	if w.changed != nil {
		w.cancel()
		w.changed = nil
	}
}

// Quiet waits until the operator has reconciled every request that is due, and no more come within a fifth of a second. In that time a
// watch delivers the objects that were written before the call.
func (b *Bed) Quiet() {
	b.Helper()
	var last operator.Activity
	var since time.Time
	b.Eventually(patience, "the operator to be quiet", func() error {
		now, err := b.Op.Activity()
		switch busy := now.Busy(); {
		case err != nil:
			return err
		case busy != "":
			since = time.Time{}
			return errors.New(busy)
		case since.IsZero(), !maps.Equal(now.Queued, last.Queued):
			last, since = now, time.Now()
			return errors.New("more may come")
		case time.Since(since) < 200*time.Millisecond:
			return errors.New("more may come")
		}
		return nil
	})
}

// Outside makes a change behind the operator's back, while the operator is quiet. An object is ready with the write of its status, which
// makes the operator reconcile it once more: that reconciliation would undo a change that comes before it, and a test that looks for the
// change would find it or not.
func (b *Bed) Outside(change func(ctx context.Context) error) {
	b.Helper()
	b.Quiet()
	if err := change(b.Ctx()); err != nil {
		b.Fatal(err)
	}
}

// Passes does something while the operator is quiet, and waits until a controller has reconciled so many requests after it and the
// operator is quiet again.
func (b *Bed) Passes(controller string, n int, do func()) {
	b.Helper()
	b.Quiet()
	before, err := b.Op.Activity()
	if err != nil {
		b.Fatal(err)
	}
	do()
	b.Eventually(patience, fmt.Sprintf("%d reconciliations of %s", n, controller), func() error {
		now, err := b.Op.Activity()
		if done := now.Since(before).Reconciled[controller]; err == nil && done < n {
			err = fmt.Errorf("%d of %d", done, n)
		}
		return err
	})
	b.Quiet()
}

// Passed waits until controllers have reconciled something since the operator's start, and the operator is quiet.
func (b *Bed) Passed(controllers ...string) {
	b.Helper()
	b.Eventually(patience, "the first reconciliations", func() error {
		now, err := b.Op.Activity()
		for _, c := range controllers {
			if err == nil && now.Reconciled[c] == 0 {
				err = fmt.Errorf("%s has reconciled nothing", c)
			}
		}
		return err
	})
	b.Quiet()
}
