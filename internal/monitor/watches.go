// SPDX-License-Identifier: Apache-2.0

package monitor

import (
	"context"
	"fmt"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// watches keep objects of several kinds up to date. A watch that ends or expires is resumed.
type watches struct {
	client client.WithWatch
	// changed receives a value after changes, troubles a failed list or watch.
	changed  chan struct{}
	troubles chan watchTrouble
}

// watchTrouble is a list or a watch that failed. It is tried again unless the caller has no right to it.
type watchTrouble struct {
	what string
	err  error
}

func (t watchTrouble) isRefused() bool {
	return apierrors.IsForbidden(t.err) || apierrors.IsUnauthorized(t.err)
}

// Error implements error.
func (t watchTrouble) Error() string { return fmt.Sprintf("watching %s: %s", t.what, t.err) }

// Unwrap returns the error of the API server.
func (t watchTrouble) Unwrap() error { return t.err }

func newWatches(c client.WithWatch) *watches {
	return &watches{client: c, changed: make(chan struct{}, 1), troubles: make(chan watchTrouble, 1)}
}

// start lists and watches objects until the context ends. The informer's store holds them.
func (w *watches) start(ctx context.Context, what string, example client.Object, list client.ObjectList,
	options ...client.ListOption) (cache.SharedInformer, error) {
	with := func(raw metav1.ListOptions) *client.ListOptions {
		o := &client.ListOptions{}
		o.ApplyOptions(options)
		o.Raw = &raw
		return o
	}
	lw := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, raw metav1.ListOptions) (runtime.Object, error) {
			l := list.DeepCopyObject().(client.ObjectList)
			return l, w.client.List(ctx, l, with(raw))
		},
		WatchFuncWithContext: func(ctx context.Context, raw metav1.ListOptions) (watch.Interface, error) {
			return w.client.Watch(ctx, list.DeepCopyObject().(client.ObjectList), with(raw))
		},
	}
	informer := cache.NewSharedInformer(lw, example, 0)
	err := informer.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) {
		select {
		case w.troubles <- watchTrouble{what, err}:
		default: // one is enough
		}
	})
	if err != nil {
		return nil, err
	}
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { w.wake() }, UpdateFunc: func(any, any) { w.wake() }, DeleteFunc: func(any) { w.wake() },
	}); err != nil {
		return nil, err
	}
	go informer.RunWithContext(klog.NewContext(ctx, logr.Discard()))
	go w.wakeWhenSynced(ctx, informer.HasSynced)
	return informer, nil
}

// wakeWhenSynced wakes the receiver once an informer has all objects: their events may come before it says so, and none may
// follow.
func (w *watches) wakeWhenSynced(ctx context.Context, synced cache.InformerSynced) {
	if cache.WaitForCacheSync(ctx.Done(), synced) {
		w.wake()
	}
}

func (w *watches) wake() {
	select {
	case w.changed <- struct{}{}:
	default: // the receiver is yet to look
	}
}

// itemsOf returns the objects that an informer holds.
func itemsOf[T any](informer cache.SharedInformer) []T {
	var out []T
	for _, o := range informer.GetStore().List() {
		if t, ok := o.(T); ok {
			out = append(out, t)
		}
	}
	return out
}
