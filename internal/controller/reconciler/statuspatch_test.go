// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
)

func TestStatusPatch_HoldsNothingButTheStatus(t *testing.T) {
	was := &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "b", UID: "1", ResourceVersion: "7",
		Labels: map[string]string{"l": "1"}}}
	was.Spec.BucketName, was.Status.ARN = "b", "arn:aws:s3:::old"
	is := was.DeepCopy()
	is.Labels, is.ResourceVersion = nil, "8"
	is.Spec.BucketName, is.Status.ARN = "c", "arn:aws:s3:::b"
	for lock, want := range map[bool]string{
		false: `{"status":{"arn":"arn:aws:s3:::b"}}`,
		true:  `{"metadata":{"resourceVersion":"7"},"status":{"arn":"arn:aws:s3:::b"}}`,
	} {
		patch, answer := StatusPatch(is, was, lock)
		got, err := patch.Data(answer)
		if err != nil || string(got) != want {
			t.Errorf("with a lock: %v: %s, %v", lock, got, err)
		}
		if answer.GetName() != "b" || answer.GetNamespace() != "a" || answer.GetLabels() != nil {
			t.Errorf("the patch is for %s/%s", answer.GetNamespace(), answer.GetName())
		}
	}
	if StatusOf(is) != &is.Status {
		t.Error("the status is a copy")
	}
}
