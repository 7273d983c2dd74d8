// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
)

// listsOfOurs are the kinds of lists of the operator's own groups.
func (b *bed) listsOfOurs() (out []schema.GroupVersionKind) {
	for gvk := range b.Client.Scheme().AllKnownTypes() {
		if slices.Contains(ourGroups, gvk.Group) && strings.HasSuffix(gvk.Kind, "List") {
			out = append(out, gvk)
		}
	}
	return out
}

// objectsIn are all objects of the operator's kinds in a namespace.
func (b *bed) objectsIn(namespace string) (out []unstructured.Unstructured) {
	b.Helper()
	for _, gvk := range b.listsOfOurs() {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(gvk)
		if err := b.Client.List(b.Ctx(), list, client.InNamespace(namespace)); err != nil {
			b.Fatal(err)
		}
		for _, o := range list.Items {
			if o.GetNamespace() == namespace {
				out = append(out, o)
			}
		}
	}
	return out
}

// factsOf returns what people of other namespaces learn nothing of: a namespace, its objects, their UIDs, and the values of its Secrets.
func (b *bed) factsOf(namespace string) []string {
	b.Helper()
	facts := []string{namespace}
	for _, o := range b.objectsIn(namespace) {
		facts = append(facts, string(o.GetUID()))
		if len(o.GetName()) > 4 { // shorter names are words
			facts = append(facts, o.GetName())
		}
	}
	secrets := &corev1.SecretList{}
	if err := b.Client.List(b.Ctx(), secrets, client.InNamespace(namespace)); err != nil {
		b.Fatal(err)
	}
	for _, s := range secrets.Items {
		for _, v := range s.Data {
			facts = append(facts, string(v))
		}
	}
	return facts
}

// tellsNothing fails where the status of an object, a plan or an event in a namespace has a fact of another one that the author of the
// object did not write into it. At least so many statuses and events are compared. The result compares the events once more, for those
// of a deletion.
func (b *bed) tellsNothing(namespace, of string, least int) (eventsTellNothing func()) {
	b.Helper()
	facts, said, statuses := b.factsOf(of), map[string]string{}, 0
	check := func(what, own, text string) {
		for _, fact := range facts {
			if strings.Contains(text, fact) && !strings.Contains(own, fact) {
				b.Errorf("%s tells %q: %s", what, fact, text)
			}
		}
	}
	for _, o := range b.objectsIn(namespace) {
		status := o.Object["status"]
		delete(o.Object, "status")
		own, err := json.Marshal(o.Object)
		if err != nil {
			b.Fatal(err)
		}
		text, err := json.Marshal(status)
		if err != nil {
			b.Fatal(err)
		}
		name, _, _ := unstructured.NestedString(o.Object, "spec", "capabilityName")
		environment, _, _ := unstructured.NestedString(o.Object, "spec", "environment")
		own = append(own, []byte(name+"-"+environment)...) // what the names of a capability begin with
		said[string(o.GetUID())] = string(own)
		if status != nil {
			statuses++
		}
		check(o.GetKind()+"/"+o.GetName(), string(own), string(text))
	}
	eventsTellNothing = func() {
		events := &eventsv1.EventList{}
		if err := b.Client.List(b.Ctx(), events, client.InNamespace(namespace)); err != nil {
			b.Fatal(err)
		}
		for _, e := range events.Items {
			check("the event of "+e.Regarding.Kind+"/"+e.Regarding.Name, said[string(e.Regarding.UID)], e.Note)
		}
		if len(events.Items) < least {
			b.Errorf("%d events were compared", len(events.Items))
		}
	}
	eventsTellNothing()
	if statuses < least || len(facts) < 5 {
		b.Errorf("%d statuses were compared with %d facts", statuses, len(facts))
	}
	return eventsTellNothing
}

// plansOfOthers asks for the plans of what a capability of another namespace has in AWS, and waits for the answers.
func (b *bed) plansOfOthers(tenant client.Client) {
	b.Helper()
	for _, o := range []attack{
		{kind: "S3Bucket", spec: `bucketName: victims-bucket`},
		{kind: "SecretsManagerSecret", spec: `secretName: victim/dev/openai`},
		{kind: "SSMParameterSet", spec: `{path: /victim/dev, parameters: {app/version: {value: mine}}}`},
		{kind: "IAMRole", spec: "roleName: finance-admin\n" + forApp},
	} {
		manifest, err := json.Marshal(o.object(b, 700, b.Namespace, nil))
		if err != nil {
			b.Fatal(err)
		}
		q := &nexusv1.PlanRequest{ObjectMeta: metav1.ObjectMeta{GenerateName: "plan-", Namespace: b.Namespace},
			Spec: nexusv1.PlanRequestSpec{Manifests: []nexusv1.PlannedManifest{nexusv1.PlannedManifest(manifest)}}}
		if err := tenant.Create(b.Ctx(), q); err != nil {
			b.Fatal(err)
		}
		b.Eventually(time.Minute, "the plan of a "+o.kind, func() error {
			if err := b.Get(q); err != nil || !strings.Contains(q.Status.Plan, "Conflict") {
				return fmt.Errorf("%v: %+v", err, q.Status)
			}
			return nil
		})
	}
}
