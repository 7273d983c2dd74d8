// SPDX-License-Identifier: Apache-2.0

package bed

import (
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Tenant returns a client of a user who has Kubernetes' own role edit in one namespace and no other right. The role
// holds what config/rbac adds to it.
func (b *Bed) Tenant(namespace string) client.Client {
	b.Helper()
	user := "tenant-of-" + namespace
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: user},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "edit"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}
	if err := b.Client.Create(b.Ctx(), binding); err != nil && !apierrors.IsAlreadyExists(err) {
		b.Fatal(err)
	}
	config := rest.CopyConfig(b.World.Config())
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: []string{"system:authenticated"}}
	c, err := client.New(config, client.Options{Scheme: b.Client.Scheme()})
	if err != nil {
		b.Fatal(err)
	}
	return c
}
