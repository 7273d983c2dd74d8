// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// bucketKind stands for the kind S3Bucket; nothing of it is called.
type bucketKind struct {
	kind.Kind[*v1alpha1.S3Bucket, struct{}]
}

func (bucketKind) Meta() kind.Meta { return kind.Meta{} }

func TestDrift_ListsObjectsThatDoNotSettle(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	bucket := func(name string, err error) *v1alpha1.S3Bucket {
		o := &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}
		status.Summarize(&o.Status.Conditions, status.Result{Err: err, Now: time.Unix(0, 0)})
		return o
	}
	odd := &status.Stalled{Reason: status.ReasonNotSettling, Message: "Versioning does not keep its value"}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(bucket("ready", nil), bucket("odd", odd),
		bucket("taken", &status.Stalled{Reason: status.ReasonConflict, Message: "m"})).Build()
	r := &Reader{Client: c,
		Kinds: []engine.Entry{engine.For(func(aws.Config) kind.Kind[*v1alpha1.S3Bucket, struct{}] { return bucketKind{} })}}
	report, err := r.Drift(t.Context(), "")
	if err != nil || len(report.Objects) != 1 || report.Objects[0].Name != "odd" || report.Objects[0].Fields == nil ||
		report.Objects[0].Message == "" {
		t.Errorf("%+v, %v", report, err)
	}
}
