package controller

import (
	"context"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
)

// secretWatch runs one metadata informer of Secrets per namespace in which a provider reads one: only
// there did the administrator bind the right to, and a cluster-wide watch would be refused.
type secretWatch struct {
	env     Environment
	config  *rest.Config
	changed chan<- event.GenericEvent

	mu      sync.Mutex
	ctx     context.Context // that of Start; nil before
	running map[string]bool
	// early are the namespaces that were asked for before Start.
	early []string
}

func newSecretWatch(env Environment, config *rest.Config, changed chan<- event.GenericEvent) *secretWatch {
	return &secretWatch{env: env, config: config, changed: changed, running: map[string]bool{}}
}

// Start implements manager.Runnable: the informers live as long as the manager.
func (w *secretWatch) Start(ctx context.Context) error {
	w.mu.Lock()
	w.ctx = ctx
	early := w.early
	w.mu.Unlock()
	for _, namespace := range early {
		w.ensure(ctx, namespace)
	}
	<-ctx.Done()
	return nil
}

// ensure starts the namespace's informer unless it runs. A namespace whose Secrets may not be listed
// gets none: its providers are looked at every check interval all the same.
func (w *secretWatch) ensure(ctx context.Context, namespace string) {
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

// notify requests every provider that reads the Secret.
func (w *secretWatch) notify(o any) {
	if gone, ok := o.(toolscache.DeletedFinalStateUnknown); ok {
		o = gone.Obj
	}
	secret, ok := o.(client.Object)
	if !ok {
		return
	}
	providers := &v1alpha1.AWSProviderList{}
	if err := w.env.Client.List(w.ctx, providers, client.InNamespace(secret.GetNamespace())); err != nil {
		return
	}
	for i := range providers.Items {
		if readsSecret(&providers.Items[i], secret.GetName()) {
			select {
			case w.changed <- event.GenericEvent{Object: &providers.Items[i]}:
			case <-w.ctx.Done():
			}
		}
	}
}

func readsSecret(p *v1alpha1.AWSProvider, name string) bool {
	return slices.Contains(secretsOf(p), name)
}
