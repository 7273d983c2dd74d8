// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
)

// listOf lists so many objects of 200 KiB as an API server does that streams no lists, and records how many each request asked for.
type listOf struct {
	n      int
	asked  []int64
	expire bool
}

// list is the ListWithContextFunc of a toolscache.ListWatch.
func (l *listOf) list(_ context.Context, o metav1.ListOptions) (runtime.Object, error) {
	first := 0
	_, _ = fmt.Sscan(o.Continue, &first)
	l.asked = append(l.asked, o.Limit)
	if l.expire && first > 0 {
		return nil, apierrors.NewResourceExpired("too old")
	}
	out := &v1alpha1.SSMParameterSetList{}
	out.ResourceVersion = "7"
	for i := first; i < l.n && (o.ResourceVersion == "0" || o.Limit == 0 || i < first+int(o.Limit)); i++ {
		s := v1alpha1.SSMParameterSet{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: fmt.Sprint(i)}}
		s.Spec.Parameters = map[string]v1alpha1.SSMParameter{}
		for p := range 50 {
			s.Spec.Parameters[fmt.Sprint(p)] = v1alpha1.SSMParameter{Value: strings.Repeat("x", 4<<10)}
		}
		out.Items = append(out.Items, s)
	}
	if next := first + len(out.Items); next < l.n {
		out.Continue = fmt.Sprint(next)
	}
	return out, nil
}

func (l *listOf) informer() toolscache.SharedIndexInformer {
	lw := &toolscache.ListWatch{ListWithContextFunc: l.list,
		WatchFuncWithContext: func(_ context.Context, o metav1.ListOptions) (watch.Interface, error) {
			if o.SendInitialEvents != nil {
				return nil, apierrors.NewInvalid(v1alpha1.GroupVersion.WithKind("SSMParameterSet").GroupKind(), "", nil)
			}
			return watch.NewFake(), nil
		}}
	return newInformers()(lw, &v1alpha1.SSMParameterSet{}, 0, toolscache.Indexers{})
}

// Where the API server does not stream, client-go asks for all objects of a kind in one answer.
func TestInformer_ListsLargeObjectsByPages(t *testing.T) {
	l := &listOf{n: 305}
	i := l.informer()
	if err := i.SetTransform(reconciler.NewLargeObjects().Transform("SSMParameterSet")); err != nil {
		t.Fatal(err)
	}
	go i.RunWithContext(t.Context())
	if !toolscache.WaitForCacheSync(t.Context().Done(), i.HasSynced) {
		t.Fatal("the informer is not in sync")
	}
	kept, trimmed := 0, 0
	for _, o := range i.GetStore().List() {
		s := o.(*v1alpha1.SSMParameterSet)
		kept += apply.SizeOf(s)
		if _, ok := apply.TrimmedSize(s); ok {
			trimmed++
		}
	}
	if n := len(i.GetStore().List()); n != 305 || kept > reconciler.MostLarge+n*(4<<10) || trimmed < 220 {
		t.Errorf("%d objects of %d bytes, %d of them trimmed", n, kept, trimmed)
	}
	if len(l.asked) != 16 {
		t.Errorf("%d requests", len(l.asked))
	}
	for _, n := range l.asked {
		if n != objectsOfPage {
			t.Errorf("a request for %d objects", n)
		}
	}
}

// Where the API server streams, client-go transforms the streamed objects, and the result once more. Transforms of the cache must therefore
// not change objects that they have trimmed.
func TestInformer_MayTransformAnObjectTwice(t *testing.T) {
	stream := watch.NewFakeWithChanSize(2, false)
	o := &v1alpha1.SSMParameterSet{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "a", ResourceVersion: "6"}}
	end := &v1alpha1.SSMParameterSet{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "7",
		Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"}}}
	stream.Add(o)
	stream.Action(watch.Bookmark, end)
	lw := &toolscache.ListWatch{ListWithContextFunc: (&listOf{}).list,
		WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) { return stream, nil }}
	i := newInformers()(lw, &v1alpha1.SSMParameterSet{}, 0, toolscache.Indexers{})
	var times atomic.Int64
	if err := i.SetTransform(func(o any) (any, error) { times.Add(1); return o, nil }); err != nil {
		t.Fatal(err)
	}
	go i.RunWithContext(t.Context())
	if !toolscache.WaitForCacheSync(t.Context().Done(), i.HasSynced) || times.Load() != 2 {
		t.Errorf("transformed %d times", times.Load())
	}
}

// The reflector lists again where a list changed too much between two pages.
func TestPagedLister_ReturnsTheErrorOfAnyPage(t *testing.T) {
	l := &listOf{n: 50, expire: true}
	p := l.informer().(*pagedInformer).pages
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if got, err := p.ListWithContext(ctx, metav1.ListOptions{ResourceVersion: "0"}); !apierrors.IsResourceExpired(err) || got != nil {
		t.Errorf("%v %v", got, err)
	}
	l.expire = false
	got, err := p.ListWithContext(ctx, metav1.ListOptions{ResourceVersion: "5", Limit: 500})
	if err != nil || len(got.(*v1alpha1.SSMParameterSetList).Items) != 50 || got.(*v1alpha1.SSMParameterSetList).ResourceVersion != "7" {
		t.Errorf("%v", err)
	}
}
