// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// SecretWatch runs one metadata informer of Secrets per namespace with an object that reads one: the administrator binds the right to only
// there, and a cluster-wide watch would be refused.
type SecretWatch struct {
	env    Environment
	config *rest.Config
	// listeners are called with each Secret that was added, changed or deleted. They are set before Start.
	listeners []func(ctx context.Context, secret client.Object)

	mu      sync.Mutex
	ctx     context.Context // that of Start; nil before
	running map[string]bool
	// early are the namespaces that were asked for before Start.
	early []string
}

// NewSecretWatch returns a watch that the manager has to start.
func NewSecretWatch(env Environment, config *rest.Config) *SecretWatch {
	return &SecretWatch{env: env, config: config, running: map[string]bool{}}
}

// Subscribe returns a source of the objects that find names for a changed Secret.
func (w *SecretWatch) Subscribe(find func(ctx context.Context, secret client.Object) []client.Object) source.Source {
	changed := make(chan event.GenericEvent, 64)
	w.listeners = append(w.listeners, func(ctx context.Context, secret client.Object) {
		for _, o := range find(ctx, secret) {
			select {
			case changed <- event.GenericEvent{Object: o}:
			case <-ctx.Done():
			}
		}
	})
	return source.Channel(changed, &handler.EnqueueRequestForObject{})
}

// Start implements manager.Runnable: the informers live as long as the manager.
func (w *SecretWatch) Start(ctx context.Context) error {
	w.mu.Lock()
	w.ctx = ctx
	early := w.early
	w.mu.Unlock()
	for _, namespace := range early {
		w.Ensure(ctx, namespace)
	}
	<-ctx.Done()
	return nil
}

// Ensure starts the namespace's informer unless it runs. A namespace without the right to list its Secrets gets none: its objects are
// looked at every check interval all the same.
func (w *SecretWatch) Ensure(ctx context.Context, namespace string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ctx == nil {
		w.early = append(w.early, namespace)
		return
	}
	if w.running[namespace] {
		return
	}
	probe := &metav1.PartialObjectMetadataList{}
	probe.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("SecretList"))
	if err := w.env.Live.List(ctx, probe, client.InNamespace(namespace), client.Limit(1)); err != nil {
		return
	}
	c, err := cache.New(w.config, cache.Options{Scheme: w.env.Client.Scheme(), DefaultNamespaces: map[string]cache.Config{namespace: {}}})
	if err != nil {
		return
	}
	secret := &metav1.PartialObjectMetadata{}
	secret.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	informer, err := c.GetInformer(w.ctx, secret, cache.BlockUntilSynced(false))
	if err != nil {
		return
	}
	changed := func(o any) { w.notify(o) }
	if _, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    changed,
		UpdateFunc: func(_, o any) { changed(o) },
		DeleteFunc: changed,
	}); err != nil {
		return
	}
	w.running[namespace] = true
	go func(ctx context.Context) { _ = c.Start(ctx) }(w.ctx) // returns when the manager stops
}

// notify calls the listeners.
func (w *SecretWatch) notify(o any) {
	if gone, ok := o.(toolscache.DeletedFinalStateUnknown); ok {
		o = gone.Obj
	}
	secret, ok := o.(client.Object)
	if !ok {
		return
	}
	for _, call := range w.listeners {
		call(w.ctx, secret)
	}
}
