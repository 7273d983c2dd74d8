// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

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
	"k8s.io/client-go/tools/clientcmd"

	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

// Who the operator is in a cluster.
const (
	// Namespace is the one that it is installed in.
	Namespace = "nexus-system"
	// User is its ServiceAccount.
	User = "system:serviceaccount:" + Namespace + ":nexus-operator"
	// SecretsBinding gives it the Secrets of all namespaces, which only a test's administrator does.
	SecretsBinding = "test-secrets"
	// Policy is the ValidatingAdmissionPolicy that limits what it writes.
	Policy = "nexus-operator-reach"
)

var installing sync.Mutex

// Config returns a client configuration of the operator's ServiceAccount, with the rights that config/rbac gives it
// within the policy of config/admission, and with those to Secrets bound in every namespace. The first call in a world
// installs them.
func Config(w *world.World) (*rest.Config, error) {
	path, err := Kubeconfig(w)
	if err != nil {
		return nil, err
	}
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err == nil {
		config.QPS = -1
	}
	return config, err
}

// Kubeconfig is the path of Config as a file.
func Kubeconfig(w *world.World) (string, error) {
	installing.Lock()
	defer installing.Unlock()
	path := filepath.Join(w.Dir(), "operator.kubeconfig")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	config, err := w.UserConfig(User, "system:serviceaccounts", "system:serviceaccounts:"+Namespace, "system:authenticated")
	if err != nil {
		return "", err
	}
	if err := install(ctx, w.Config()); err != nil {
		return "", fmt.Errorf("giving the operator its rights: %w", err)
	}
	if err := effective(ctx, config); err != nil {
		return "", err
	}
	return path, world.WriteKubeconfig(path, config)
}

func install(ctx context.Context, admin *rest.Config) error {
	c, err := kubernetes.NewForConfig(admin)
	if err != nil {
		return err
	}
	d, err := dynamic.NewForConfig(admin)
	if err != nil {
		return err
	}
	objects, err := manifests()
	if err != nil {
		return err
	}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: Namespace}}
	if _, err := c.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	for _, o := range objects {
		resource, _ := meta.UnsafeGuessKindToResource(o.GroupVersionKind())
		if _, err := d.Resource(resource).Namespace(o.GetNamespace()).Create(ctx, o, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
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
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: Namespace, Name: "nexus-operator"}},
	}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// manifests reads config/rbac and config/admission of the tree around the working directory; tests run in their
// package's folder.
func manifests() ([]*unstructured.Unstructured, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	for {
		config := filepath.Join(dir, "config")
		if _, err := os.Stat(filepath.Join(config, "rbac", "role.yaml")); err == nil {
			rights, err := world.ReadManifests(filepath.Join(config, "rbac"))
			if err != nil {
				return nil, err
			}
			limits, err := world.ReadManifests(filepath.Join(config, "admission"))
			return append(rights, limits...), err
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return nil, errors.New("not inside the source tree: config/rbac is not found")
		}
		dir = parent
	}
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
		if err != nil && strings.Contains(err.Error(), deniedByPolicy) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the policy %s is not in force: %w", Policy, errors.Join(err, ctx.Err()))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// deniedByPolicy begins the API server's answer to what the policy refuses.
const deniedByPolicy = "ValidatingAdmissionPolicy '" + Policy + "'"

// Refused lists what the API server has refused the operator for want of a right or by its policy, after a place in the
// audit log, as `create widgets ns/name`. A request that is refused for another reason, such as a quota or a namespace
// that is going, is not meant. An answer of this very moment may still be missing.
func Refused(w *world.World, since int64) ([]string, error) {
	f, err := os.Open(auditLog(w))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.NewSectionReader(f, since, 1<<40))
	if err != nil {
		return nil, err
	}
	var out []string
	for line := range bytes.Lines(text) {
		if !bytes.Contains(line, []byte(`"authorization.k8s.io/decision":"forbid"`)) && !bytes.Contains(line, []byte(deniedByPolicy)) {
			continue
		}
		var e struct {
			Verb, RequestURI string
			User             struct{ Username string }
			ResponseStatus   struct{ Message string }
			ObjectRef        struct{ Resource, Subresource, Namespace, Name string }
		}
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("audit log: %w", err)
		}
		if e.User.Username != User {
			continue
		}
		o := e.ObjectRef
		what := strings.TrimSuffix(o.Resource+"/"+o.Subresource, "/") + " " + o.Namespace + "/" + o.Name
		if o.Resource == "" {
			what = e.RequestURI
		}
		if _, why, ok := strings.Cut(e.ResponseStatus.Message, deniedByPolicy); ok {
			what += ", denied by " + deniedByPolicy + why
		}
		out = append(out, e.Verb+" "+what)
	}
	return out, nil
}

// AuditEnd is the present end of the audit log, for Refused.
func AuditEnd(w *world.World) int64 {
	info, err := os.Stat(auditLog(w))
	if err != nil {
		return 0
	}
	return info.Size()
}

func auditLog(w *world.World) string { return filepath.Join(w.Dir(), "audit.log") }
