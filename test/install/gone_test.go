// SPDX-License-Identifier: Apache-2.0

package install

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/testkit/bed"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// handRemoval is the command of docs/deletion.md for an operator that is gone for ever.
func handRemoval(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/deletion.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(page),
		"objects that are being deleted, and of no others:\n\n```sh skip tested TestFinalizers_AreRemovedByHandInDeletionOnly\n")
	command, _, ends := strings.Cut(rest, "\n```\n")
	if !found || !ends {
		t.Fatal("docs/deletion.md has no command any more")
	}
	return command
}

// Without an operator nothing removes the finalizers. The command must leave objects alone that are not being deleted.
func TestFinalizers_AreRemovedByHandInDeletionOnly(t *testing.T) {
	extent.Full(t)
	b := bed.Empty(t)
	kubectl(t, b, "apply", "--server-side", "--force-conflicts", "-f", definitionsFolder)
	kubectl(t, b, "wait", "--for=condition=Established", "crd", "--all")
	namespace := b.MakeNamespace("left-behind")
	bucket := func(name string) *v1alpha1.S3Bucket {
		o := &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, Finalizers: []string{"example.com/gone"}}}
		o.Spec.ProviderRef.Name, o.Spec.BucketName = "aws", "left-behind-"+name
		return o
	}
	gone, stays := bucket("gone"), bucket("stays")
	intent := &intentv1alpha1.SecurityIntent{ObjectMeta: metav1.ObjectMeta{Name: "gone", Finalizers: []string{"example.com/gone"}},
		Spec: intentv1alpha1.SecurityIntentSpec{Intent: intentv1alpha1.Intent{ID: "dnsManipulation"}}}
	b.Create(gone, stays, intent)
	for _, o := range []client.Object{gone, intent} {
		if err := b.Client.Delete(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	sh := exec.CommandContext(t.Context(), "sh", "-c", handRemoval(t))
	// kubectl keeps what it found out about an API server in its home, here before the definitions existed.
	sh.Env = append(os.Environ(), "KUBECONFIG="+b.World.Kubeconfig(), "PATH="+b.World.Programs()+":"+os.Getenv("PATH"), "HOME="+t.TempDir())
	out, err := sh.CombinedOutput()
	if err != nil || strings.Count(string(out), " patched\n") != 2 {
		t.Errorf("%v\n%s", err, out)
	}
	for _, o := range []client.Object{gone, intent} {
		if err := b.Get(o); !apierrors.IsNotFound(err) {
			t.Errorf("%T %s is still there: %v", o, o.GetName(), err)
		}
	}
	if err := b.Get(stays); err != nil || len(stays.Finalizers) != 1 {
		t.Errorf("an object that is not being deleted lost its finalizer: %v %v", stays.Finalizers, err)
	}
	b.Edit(stays, func() { stays.Finalizers = nil })
	b.Remove(stays)
}
