// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"encoding/json"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/testkit/must"
)

var owner = Owner{
	Kind:      schema.GroupVersionKind{Group: "nexus.ai", Version: "v1", Kind: "NexusAICapability"},
	Namespace: "team", Name: "app", UID: "now",
}

func controlledBy(kind, name, uid string) []metav1.OwnerReference {
	return []metav1.OwnerReference{{APIVersion: "nexus.ai/v1beta1", Kind: kind, Name: name, UID: types.UID(uid), Controller: new(true)}}
}

func TestWhoseAnExistingObjectIs(t *testing.T) {
	const me = "NexusAICapability/team/app"
	mine := map[string]string{wellknown.LabelCapabilityUID: "now"}
	past := map[string]string{wellknown.LabelCapabilityUID: "then"}
	names := func(s string) map[string]string { return map[string]string{AnnotationOwner: s} }
	for _, tc := range []struct {
		name        string
		namespace   string // empty: the owner's
		isNamespace bool
		have        metav1.ObjectMeta
		want        verdict
		why         string
	}{
		{name: "controlled by the owner", have: metav1.ObjectMeta{OwnerReferences: controlledBy("NexusAICapability", "app", "now")}, want: ours},
		{name: "labeled with the owner's UID", have: metav1.ObjectMeta{Labels: mine}, want: ours},
		{name: "labeled, in another namespace", namespace: "app-dev", have: metav1.ObjectMeta{Labels: mine}, want: ours},
		{name: "labeled as ours but controlled by another",
			have: metav1.ObjectMeta{Labels: mine, OwnerReferences: controlledBy("ReplicaSet", "r", "x")}, want: foreign,
			why: "controlled by ReplicaSet/r"},
		{name: "controlled by another capability", have: metav1.ObjectMeta{OwnerReferences: controlledBy("NexusAICapability", "other", "x")},
			want: foreign, why: "NexusAICapability/other"},
		{name: "controlled by an earlier capability of the name",
			have: metav1.ObjectMeta{Labels: past, OwnerReferences: controlledBy("NexusAICapability", "app", "then")}, want: doomed},
		{name: "controlled by a namesake elsewhere", namespace: "other",
			have: metav1.ObjectMeta{OwnerReferences: controlledBy("NexusAICapability", "app", "x")}, want: foreign,
			why: "controlled by an object of another namespace"},
		{name: "an owner that does not control", have: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{UID: "now"}}}, want: foreign,
			why: "not made by this operator"},
		{name: "made by nobody we know", want: foreign, why: "not made by this operator"},
		{name: "annotated but not labeled", have: metav1.ObjectMeta{Annotations: names(me)}, want: foreign, why: "not made by this operator"},
		{name: "left by an earlier capability of the name", have: metav1.ObjectMeta{Labels: past, Annotations: names(me)}, want: inherited},
		{name: "another capability's", have: metav1.ObjectMeta{Labels: past, Annotations: names("NexusAICapability/team/other")}, want: foreign,
			why: "belongs to NexusAICapability/team/other with UID then"},
		{name: "labeled with another UID and nothing more", have: metav1.ObjectMeta{Labels: past}, want: foreign, why: "an unknown owner"},
		{name: "our namespace", isNamespace: true, have: metav1.ObjectMeta{Labels: mine}, want: ours},
		{name: "a capability's of another namespace", have: metav1.ObjectMeta{Labels: past, Annotations: names("NexusAICapability/secret/other")},
			want: foreign, why: "belongs to an object of another namespace"},
		{name: "a namespace of an earlier capability of the name", isNamespace: true,
			have: metav1.ObjectMeta{Labels: past, Annotations: names(me)}, want: foreign, why: "belongs to " + me},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ref := Ref{Kind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, Name: "x"}
			tc.have.Namespace = "team"
			if tc.namespace != "" {
				tc.have.Namespace = tc.namespace
			}
			if tc.isNamespace {
				ref.Kind.Kind, tc.have.Namespace = "Namespace", ""
			}
			got, why := judgeOwnership(owner, ref, &tc.have)
			if got != tc.want || !strings.Contains(why, tc.why) || (why == "") != (tc.why == "") {
				t.Errorf("verdict %d because %q, expected %d because %q", got, why, tc.want, tc.why)
			}
		})
	}
}

// Whatever an object of another namespace, or of the cluster, says of its owner: the people of this namespace learn nothing of it.
func TestJudgeOwnership_NamesNobodyOfAnotherNamespace(t *testing.T) {
	const ns, name, uid = "their-namespace", "their-name", "their-uid"
	for _, labeled := range []bool{false, true} {
		for _, controller := range []bool{false, true} {
			for _, annotation := range []string{"", "NexusAICapability/" + ns + "/" + name, "ClusterSecurityIntentBinding/" + name, name,
				ns + "/" + name, "/" + ns + "/", "a/b/c/" + name} {
				have := &metav1.ObjectMeta{Namespace: ns, Name: "x",
					Annotations: map[string]string{AnnotationOwner: annotation, AnnotationOrphanedFrom: annotation}}
				if labeled {
					have.Labels = map[string]string{wellknown.LabelCapabilityUID: uid}
				}
				if controller {
					have.OwnerReferences = controlledBy("NexusAICapability", name, uid)
				}
				got, why := judgeOwnership(owner, Ref{Kind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, Name: "x"}, have)
				if got != foreign || strings.Contains(why, ns) || strings.Contains(why, name) || strings.Contains(why, uid) {
					t.Errorf("labeled %v, controlled %v, %q: %d because %q", labeled, controller, annotation, got, why)
				}
			}
		}
	}
}

func TestNamespacesOfTheClusterAndTheOperatorAreReserved(t *testing.T) {
	a := &Applier{OperatorNamespace: "nexus-system"}
	clusterWide := Owner{Kind: owner.Kind, Name: "everywhere", UID: "now"}
	namespace := schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}
	configMap := schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	for _, tc := range []struct {
		owner    Owner
		ref      Ref
		reserved bool
	}{
		{owner, Ref{namespace, "", "kube-system"}, true},
		{owner, Ref{namespace, "", "kube-anything"}, true},
		{owner, Ref{namespace, "", "default"}, true},
		{owner, Ref{namespace, "", "nexus-system"}, true},
		{clusterWide, Ref{namespace, "", "kube-system"}, true},
		{owner, Ref{namespace, "", "app-dev"}, false},
		{owner, Ref{namespace, "", "kubernetes"}, false},
		{owner, Ref{configMap, "kube-system", "x"}, true},
		{owner, Ref{configMap, "nexus-system", "x"}, true},
		{owner, Ref{configMap, "app-dev", "x"}, false},
		{owner, Ref{configMap, "team", "x"}, false},
		{Owner{Namespace: "default"}, Ref{configMap, "default", "x"}, false},
		{clusterWide, Ref{configMap, "kube-system", "x"}, false},
		{owner, Ref{schema.GroupVersionKind{Group: "x.io", Version: "v1", Kind: "Cluster"}, "", "x"}, false},
	} {
		if got := a.reserved(tc.owner, tc.ref); got != tc.reserved {
			t.Errorf("%s of %s: reserved is %v, expected %v", tc.ref, tc.owner, got, tc.reserved)
		}
	}
	if (&Applier{}).reserved(owner, Ref{schema.GroupVersionKind{Group: "x.io", Version: "v1", Kind: "Cluster"}, "", "x"}) {
		t.Error("an unset operator namespace reserves what has no namespace")
	}
}

func desired(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := json.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}

const configMap = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","namespace":"team"},"data":{"a":"1"}}`

func TestTheManifestCarriesOurMarksAndNothingOfTheServers(t *testing.T) {
	in := desired(t, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","namespace":"team","uid":"u","resourceVersion":"5","creationTimestamp":null,
		"finalizers":["keep"],"managedFields":[{}],"generation":3,"labels":{"a":"b","nexus.ai/capability-uid":"forged"},"annotations":{"nexus.ai/desired-hash":"old"},
		"ownerReferences":[{"uid":"forged"}]},"data":{"a":"1","b":null},"list":[{"c":null}],"status":{"x":1}}`)
	before := in.DeepCopy()
	got, err := addMarks(owner, in)
	if err != nil {
		t.Fatal(err)
	}
	h := got.GetAnnotations()[AnnotationHash]
	want := desired(t, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","namespace":"team",
		"labels":{"a":"b","app.kubernetes.io/managed-by":"nexus-operator","nexus.ai/capability-uid":"now"},
		"annotations":{"nexus.ai/owner":"NexusAICapability/team/app","nexus.ai/desired-hash":"`+h+`"},
		"ownerReferences":[{"apiVersion":"nexus.ai/v1","kind":"NexusAICapability","name":"app","uid":"now","controller":true,"blockOwnerDeletion":true}]},
		"data":{"a":"1"},"list":[{}]}`)
	a, _ := json.Marshal(got.Object)
	b, _ := json.Marshal(want.Object)
	if string(a) != string(b) {
		t.Errorf("the manifest is\n%s\nexpected\n%s", a, b)
	}
	if c, _ := json.Marshal(in.Object); string(c) != string(must.Get(json.Marshal(before.Object))(t)) {
		t.Error("the caller's object was changed")
	}
}

func TestTheHashChangesWithWhatIsDesiredOnly(t *testing.T) {
	hashOf := func(o Owner, text string) string {
		m, err := addMarks(o, desired(t, text))
		if err != nil {
			t.Fatal(err)
		}
		h := m.GetAnnotations()[AnnotationHash]
		if len(h) != 16 {
			t.Errorf("the hash %q has not 16 digits", h)
		}
		return h
	}
	base := hashOf(owner, configMap)
	if h := hashOf(owner, configMap); h != base {
		t.Error("two hashes of the same manifest differ")
	}
	if h := hashOf(owner, strings.Replace(configMap, `"name":"x"`, `"name":"x","resourceVersion":"7","creationTimestamp":null`,
		1)); h != base {
		t.Error("the hash depends on what the server says")
	}
	if h := hashOf(owner, strings.Replace(configMap, `"1"`, `"2"`, 1)); h == base {
		t.Error("the hash does not depend on the data")
	}
	later := owner
	later.UID = "later"
	if h := hashOf(later, configMap); h == base {
		t.Error("the hash does not depend on the owner")
	}
}

func TestAnOwnerReferenceNeverCrossesNamespaces(t *testing.T) {
	for text, refs := range map[string]int{
		configMap: 1,
		strings.Replace(configMap, "team", "app-dev", 1):                       0,
		`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"app-dev"}}`: 0,
	} {
		m, err := addMarks(owner, desired(t, text))
		if err != nil {
			t.Fatal(err)
		}
		if got := len(m.GetOwnerReferences()); got != refs {
			t.Errorf("%s has %d owner references, expected %d", RefOf(m), got, refs)
		}
		clusterWide := Owner{Kind: owner.Kind, Name: "everywhere", UID: "now"}
		if m, err = addMarks(clusterWide, desired(t, text)); err != nil || len(m.GetOwnerReferences()) != 1 {
			t.Errorf("%s of an owner of cluster scope has %d owner references, expected 1 (%v)", RefOf(m), len(m.GetOwnerReferences()), err)
		}
	}
}

func TestAnOwnerMayHaveALabelOfItsOwn(t *testing.T) {
	binding := owner
	binding.Label = "nexus.ai/binding-uid"
	m, err := addMarks(binding, desired(t, configMap))
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := m.GetLabels()[wellknown.LabelCapabilityUID]; ok || m.GetLabels()["nexus.ai/binding-uid"] != "now" {
		t.Errorf("the labels are %v", m.GetLabels())
	}
}
