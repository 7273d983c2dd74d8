// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/config/crd"
	"github.com/nexus-operator/nexus-operator/internal/catalog"
	"github.com/nexus-operator/nexus-operator/internal/crdschema"
	"github.com/nexus-operator/nexus-operator/internal/intentfacts"
	"github.com/nexus-operator/nexus-operator/internal/options"
)

// counted is a fake API server with objects, and how often it is read.
func counted(t *testing.T, reads *int, objs ...client.Object) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme), nexusv1.AddToScheme(scheme), intentv1alpha1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objs...).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
			*reads++
			return c.Get(ctx, key, obj, opts...)
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			*reads++
			return c.List(ctx, list, opts...)
		},
	}).Build()
}

func planner(t *testing.T, c client.Client) *Planner {
	t.Helper()
	schemas, err := crdschema.Load(crd.Bases)
	if err != nil {
		t.Fatal(err)
	}
	engines, err := intentfacts.EnabledEngines(catalog.Engines(), []string{options.AllAdapters})
	if err != nil {
		t.Fatal(err)
	}
	clock := testingclock.NewFakePassiveClock(time.Unix(1000, 0))
	p := &Planner{Client: c, Kinds: catalog.Kinds(), Engines: engines, Schemas: schemas, Clock: clock}
	p.Admit = InProcess{Scheme: c.Scheme(), Schemas: schemas, Clock: clock}.Admit
	return p
}

func TestApply_BoundsTheUsersOfAProvider(t *testing.T) {
	objs := []client.Object{&v1alpha1.AWSProvider{}}
	objs[0].SetName("aws")
	objs[0].SetNamespace("team")
	objs[0].(*v1alpha1.AWSProvider).Spec.Region = "eu-west-1"
	for i := range mostAffected + 200 {
		o := &v1alpha1.SQSQueue{}
		o.Name, o.Namespace, o.Spec.ProviderRef.Name, o.Spec.QueueName = fmt.Sprintf("q%d", i), "team", "aws", fmt.Sprintf("q%d", i)
		objs = append(objs, o)
	}
	reads := 0
	p := planner(t, counted(t, &reads, objs...))
	got, err := p.Apply(t.Context(), []*unstructured.Unstructured{parse(t, "{apiVersion: aws-infra-operator.runner.codes/v1alpha1, kind: AWSProvider, metadata: {name: aws, namespace: team}, spec: {region: eu-west-1, defaultTags: {team: a}}}")})
	if err != nil || !strings.Contains(got.Items[0].Note, "200 objects that use the provider are not in this plan") {
		t.Fatalf("%+v, %v", got.Items, err)
	}
	if reads > 100 {
		t.Errorf("%d reads", reads)
	}
}

// One binding of a namespace concerns all others that restrict the network there.
func TestApply_ReadsTheObjectsOfBindingsByLists(t *testing.T) {
	si := &intentv1alpha1.SecurityIntent{}
	si.Name, si.Spec.Intent.ID, si.Spec.Intent.Action = "intent", "denyExternalNetworkAccess", "Block"
	objs := []client.Object{si}
	for i := range 60 {
		o := &intentv1alpha1.SecurityIntentBinding{}
		o.Name, o.Namespace, o.UID = fmt.Sprintf("b%d", i), "team", types.UID(fmt.Sprintf("uid-%d", i))
		o.Spec.Intents = []intentv1alpha1.MatchIntent{{Name: "intent"}}
		o.Spec.Selector.WorkloadSelector = &intentv1alpha1.LabelSelector{MatchLabels: map[string]string{"app": fmt.Sprintf("a%d", i)}}
		objs = append(objs, o)
	}
	reads := 0
	p := planner(t, counted(t, &reads, objs...))
	before := reads
	got, err := p.Apply(t.Context(), []*unstructured.Unstructured{parse(t, "{apiVersion: intent.security.nimbus.com/v1alpha1, kind: SecurityIntentBinding, metadata: {name: new, namespace: team}, spec: {intents: [{name: intent}], selector: {workloadSelector: {matchLabels: {app: a1}}}}}")})
	if err != nil || len(got.Items) < 60 {
		t.Fatalf("%d items, %v", len(got.Items), err)
	}
	if n := reads - before; n > 50 {
		t.Errorf("%d reads", n)
	}
}
