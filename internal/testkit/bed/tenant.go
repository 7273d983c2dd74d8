// SPDX-License-Identifier: Apache-2.0

package bed

import (
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Tenant returns a client with only the rights of Kubernetes' ClusterRole edit in one namespace.
func (b *Bed) Tenant(namespace string) client.Client {
	b.Helper()
	return b.User("tenant-of-"+namespace, "edit", namespace)
}

// User returns a client with only the rights of a ClusterRole in some namespaces.
func (b *Bed) User(name, role string, namespaces ...string) client.Client {
	b.Helper()
	for _, namespace := range namespaces {
		binding := &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}},
		}
		if err := b.Client.Create(b.Ctx(), binding); err != nil && !apierrors.IsAlreadyExists(err) {
			b.Fatal(err)
		}
	}
	config := rest.CopyConfig(b.World.Config())
	config.Impersonate = rest.ImpersonationConfig{UserName: name, Groups: []string{"system:authenticated"}}
	c, err := client.New(config, client.Options{Scheme: b.Client.Scheme()})
	if err != nil {
		b.Fatal(err)
	}
	return c
}
