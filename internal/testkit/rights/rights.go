// SPDX-License-Identifier: Apache-2.0

// Package rights gives an operator that runs outside the cluster the identity and the rights of its Deployment. It imports
// nothing of tests, so that programs can use it.
package rights

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

// Who the operator is in a cluster.
const (
	// Namespace is the one that it is installed in.
	Namespace = "nexus-system"
	// User is its ServiceAccount.
	User = "system:serviceaccount:" + Namespace + ":" + account
	// SecretsBinding gives it the Secrets of all namespaces, which in an installation only an administrator does.
	SecretsBinding = "test-secrets"
	// Policy is the ValidatingAdmissionPolicy that limits the operator's writes.
	Policy = "nexus-operator-reach"
	// Denial begins the API server's answer to a request that the policy refuses.
	Denial = "ValidatingAdmissionPolicy '" + Policy + "'"

	account = "nexus-operator"
)

// Kubeconfig returns the path of a client configuration of the operator's ServiceAccount, with the rights and within the
// policy that the objects define, and with those to Secrets bound in every namespace. The first call in a world creates the
// objects.
func Kubeconfig(ctx context.Context, w *world.World, objects []*unstructured.Unstructured) (string, error) {
	path := filepath.Join(w.Dir(), "operator.kubeconfig")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	if err := install(ctx, w.Config(), objects); err != nil {
		return "", fmt.Errorf("giving the operator its rights: %w", err)
	}
	config, err := withToken(ctx, w.Config())
	if err != nil {
		return "", fmt.Errorf("giving the operator its identity: %w", err)
	}
	if err := effective(ctx, config); err != nil {
		return "", err
	}
	return path, world.WriteKubeconfig(path, config)
}

// withToken returns a client configuration with a token of the operator's ServiceAccount, as its pod has it. It is valid for
// longer than a world lives.
func withToken(ctx context.Context, admin *rest.Config) (*rest.Config, error) {
	c, err := kubernetes.NewForConfig(admin)
	if err != nil {
		return nil, err
	}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(30 * 24 * 60 * 60))}}
	answer, err := c.CoreV1().ServiceAccounts(Namespace).CreateToken(ctx, account, request, metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	config := rest.AnonymousClientConfig(admin)
	config.BearerToken = answer.Status.Token
	return config, nil
}

func install(ctx context.Context, admin *rest.Config, objects []*unstructured.Unstructured) error {
	c, err := kubernetes.NewForConfig(admin)
	if err != nil {
		return err
	}
	d, err := dynamic.NewForConfig(admin)
	if err != nil {
		return err
	}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: Namespace}}
	if _, err := c.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	for _, o := range objects {
		resource, _ := meta.UnsafeGuessKindToResource(o.GroupVersionKind())
		if _, err := d.Resource(resource).Namespace(o.GetNamespace()).Create(ctx, o, metav1.CreateOptions{}); err != nil &&
			!apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("%s %s: %w", o.GetKind(), o.GetName(), err)
		}
	}
	return BindSecrets(ctx, c)
}

// BindSecrets binds the right to Secrets in every namespace.
func BindSecrets(ctx context.Context, c kubernetes.Interface) error {
	_, err := c.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: SecretsBinding},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "nexus-operator-secrets"},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: Namespace, Name: account}},
	}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// effective waits until the API server's authorizer has seen every binding.
func effective(ctx context.Context, config *rest.Config) error {
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	for _, a := range []authorizationv1.ResourceAttributes{
		{Group: "nexus.ai", Resource: "nexuscapabilities", Verb: "patch"},
		{Group: "coordination.k8s.io", Resource: "leases", Verb: "update", Namespace: Namespace, Name: "nexus-operator.nexus.ai"},
		{Resource: "secrets", Verb: "get"},
	} {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &a}}
		for {
			answer, err := c.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
			if err == nil && answer.Status.Allowed {
				break
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("the operator may not %s %s: %w", a.Verb, a.Resource, errors.Join(err, ctx.Err()))
			case <-time.After(20 * time.Millisecond):
			}
		}
	}
	return limited(ctx, c)
}

// limited waits until the API server enforces the policy.
func limited(ctx context.Context, c kubernetes.Interface) error {
	probe := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "probe-of-the-policy"}}
	for {
		_, err := c.CoreV1().ConfigMaps(metav1.NamespaceDefault).Create(ctx, probe, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil && strings.Contains(err.Error(), Denial) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the policy %s is not in force: %w", Policy, errors.Join(err, ctx.Err()))
		case <-time.After(20 * time.Millisecond):
		}
	}
}
