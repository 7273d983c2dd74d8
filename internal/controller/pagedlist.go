// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
)

// objectsOfPage bounds the objects of a kind that are in memory at a time without being trimmed. An object has 1.5 MiB at most.
const objectsOfPage = 20

// newInformers returns the constructor of informers for a cache. Tenants may make many large objects of some kinds. The informers list
// these kinds by pages, one page of all kinds at a time, and trim each page before they read the next. An API server that streams its lists
// gets no list request; before 1.34, not all versions of Kubernetes stream them.
func newInformers() func(toolscache.ListerWatcher, runtime.Object, time.Duration, toolscache.Indexers) toolscache.SharedIndexInformer {
	turn := &sync.Mutex{}
	return func(lw toolscache.ListerWatcher, example runtime.Object, resync time.Duration,
		by toolscache.Indexers) toolscache.SharedIndexInformer {
		if !mayBeLarge(example) {
			return toolscache.NewSharedIndexInformer(lw, example, resync, by)
		}
		pages := &pagedLister{ListerWatcher: lw, inner: toolscache.ToListerWatcherWithContext(lw), turn: turn}
		return &pagedInformer{SharedIndexInformer: toolscache.NewSharedIndexInformer(pages, example, resync, by), pages: pages}
	}
}

// mayBeLarge reports whether the cache bounds the large objects of a kind by namespace; see cachesOf.
func mayBeLarge(o runtime.Object) bool {
	switch o.(type) {
	case v1alpha1.Resource, *nexusv1.NexusAICapability:
		return true
	}
	return false
}

// pagedInformer has its lister trim the objects that it lists.
type pagedInformer struct {
	toolscache.SharedIndexInformer
	pages *pagedLister
}

// SetTransform implements toolscache.SharedIndexInformer. The informer transforms the objects of its lister a second time.
func (i *pagedInformer) SetTransform(f toolscache.TransformFunc) error {
	i.pages.transform = f
	return i.SharedIndexInformer.SetTransform(f)
}

// pagedLister lists by pages, whatever it is asked for. The methods of ListerWatcher, which take no context, are those of the client; no
// informer calls them.
type pagedLister struct {
	toolscache.ListerWatcher
	inner     toolscache.ListerWatcherWithContext
	transform toolscache.TransformFunc
	// turn is held while a page is read and trimmed.
	turn *sync.Mutex
}

var _ toolscache.ListerWatcherWithContext = (*pagedLister)(nil)

// ListWithContext implements toolscache.ListerWithContext. It returns the newest objects: an API server does not page a list if an older
// state satisfies the request.
func (p *pagedLister) ListWithContext(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	o.ResourceVersion, o.ResourceVersionMatch, o.Limit, o.Continue = "", "", objectsOfPage, ""
	var items []runtime.Object
	for {
		page, more, err := p.page(ctx, o)
		if err != nil {
			return nil, err
		}
		m, err := meta.ListAccessor(page)
		if err != nil {
			return nil, err
		}
		items = append(items, more...)
		if o.Continue = m.GetContinue(); o.Continue == "" {
			return page, meta.SetList(page, items)
		}
	}
}

// page reads a page, and returns it without its items, and these after their transformation.
func (p *pagedLister) page(ctx context.Context, o metav1.ListOptions) (page runtime.Object, items []runtime.Object, err error) {
	p.turn.Lock()
	defer p.turn.Unlock()
	page, err = p.inner.ListWithContext(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	items, err = meta.ExtractListWithAlloc(page) // the page would keep the contents of all
	if err != nil {
		return nil, nil, err
	}
	for i, item := range items {
		if p.transform == nil {
			break
		}
		short, err := p.transform(item)
		if err != nil {
			return nil, nil, err
		}
		o, ok := short.(runtime.Object)
		if !ok {
			return nil, nil, fmt.Errorf("transforming %T made %T of it", item, short)
		}
		items[i] = o
	}
	return page, items, meta.SetList(page, nil)
}

// WatchWithContext implements toolscache.WatcherWithContext.
func (p *pagedLister) WatchWithContext(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	return p.inner.WatchWithContext(ctx, o)
}
