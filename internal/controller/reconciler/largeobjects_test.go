// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/apply"
)

// parametersOf is an object of about a mebibyte.
func parametersOf(namespace, name string) *v1alpha1.SSMParameterSet {
	o := &v1alpha1.SSMParameterSet{}
	o.Namespace, o.Name, o.Finalizers, o.Spec.ProviderRef.Name = namespace, name, []string{"a/b"}, "aws"
	o.Spec.Parameters = map[string]v1alpha1.SSMParameter{}
	for i := range 256 {
		o.Spec.Parameters[fmt.Sprint(i)] = v1alpha1.SSMParameter{Value: strings.Repeat("x", 4<<10)}
	}
	o.Status.Conditions = []metav1.Condition{{Type: "Ready", Message: "known"}}
	return o
}

func TestLargeObjects_BoundTheMemoryOfANamespace(t *testing.T) {
	l := NewLargeObjects()
	sum, whole := 0, 0
	for i := range 500 {
		o := parametersOf("team-a", fmt.Sprint(i))
		l.Trim("SSMParameterSet", o)
		sum += apply.SizeOf(o)
		if trimmed, full := l.Beyond("SSMParameterSet", o); !trimmed {
			whole++
		} else if !full || o.Name == "" || o.Spec.ProviderRef.Name != "aws" || len(o.Finalizers) != 1 ||
			o.Status.Conditions[0].Message != "known" {
			t.Fatalf("%+v", o)
		}
	}
	if sum > MostLarge+500*(4<<10) || whole < 10 {
		t.Errorf("%d bytes are kept, and %d objects whole", sum, whole)
	}
	for _, o := range []client.Object{parametersOf("team-b", "a"),
		&v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "small"}}} {
		l.Trim("x", o)
		if trimmed, _ := l.Beyond("x", o); trimmed {
			t.Errorf("%s/%s is trimmed", o.GetNamespace(), o.GetName())
		}
	}
}

func TestLargeObjects_GiveRoomThatIsFree(t *testing.T) {
	l := NewLargeObjects()
	var last *v1alpha1.SSMParameterSet
	for i := range 20 {
		last = parametersOf("team-a", fmt.Sprint(i))
		l.Trim("SSMParameterSet", last)
	}
	if _, full := l.Beyond("SSMParameterSet", last); !full {
		t.Fatal("there is room for all")
	}
	l.Forget("SSMParameterSet", client.ObjectKey{Namespace: "team-a", Name: "0"})
	if trimmed, full := l.Beyond("SSMParameterSet", last); !trimmed || full {
		t.Errorf("trimmed %v, full %v", trimmed, full)
	}
	for i := range 20 {
		l.Forget("SSMParameterSet", client.ObjectKey{Namespace: "team-a", Name: fmt.Sprint(i)})
	}
	if len(l.sizes) > 0 {
		t.Errorf("kept: %v", l.sizes)
	}
}

// A tenant may write the mark of the cache, with any size.
func TestLargeObjects_CountWhatSaysItIsSmall(t *testing.T) {
	l := NewLargeObjects()
	whole := 0
	for i := range 100 {
		o := parametersOf("team-a", fmt.Sprint(i))
		o.Annotations = map[string]string{"nexus.ai/incomplete-in-cache": "1", "nexus.ai/trimmed-in-cache": "1"}
		l.Trim("SSMParameterSet", o)
		if trimmed, _ := l.Beyond("SSMParameterSet", o); !trimmed {
			whole++
		}
	}
	if whole > MostLarge>>20 {
		t.Errorf("%d objects of a mebibyte are whole", whole)
	}
}
