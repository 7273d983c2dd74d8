// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"

	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// Three objects of one file get a certificate without a person: ACM assigns the record after the request, the record set
// follows it, and ACM finds it.
func TestACertificateIsIssuedOnceItsRecordExists(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	b.World.AWS().ACM.SetUnvalidated(true)
	t.Cleanup(func() { b.World.AWS().ACM.SetUnvalidated(false) })
	b.Create(provider("default"))
	var objs []client.Object
	for _, o := range b.File("examples/certificates/validated-certificate.yaml") {
		o.SetNamespace(b.Namespace)
		objs = append(objs, o)
	}
	i := slices.IndexFunc(objs, func(o client.Object) bool { return o.GetObjectKind().GroupVersionKind().Kind == "Certificate" })
	b.Create(objs[i])
	b.Shows(objs[i], "Ready", "False", "Busy")
	b.Create(slices.Concat(objs[:i], objs[i+1:])...)
	b.Ready(objs...)
	certificate := &v1alpha1.Certificate{ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: objs[i].GetName()}}
	if err := b.Get(certificate); err != nil {
		t.Fatal(err)
	}
	if state := certificate.Status.CertificateStatus; state != "ISSUED" {
		t.Errorf("the certificate is %s", state)
	}
	b.Remove(objs...)
	if left := b.Inventory(); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
