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

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/nexus-operator/nexus-operator/internal/testkit/rights"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

// Who the operator is in a cluster.
const (
	// Namespace is the one that it is installed in.
	Namespace = rights.Namespace
	// User is its ServiceAccount.
	User = rights.User
	// SecretsBinding gives it the Secrets of all namespaces, which only a test's administrator does.
	SecretsBinding = rights.SecretsBinding
	// Policy is the ValidatingAdmissionPolicy that limits the operator's writes.
	Policy = rights.Policy
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
	objects, err := manifests()
	if err != nil {
		return "", err
	}
	return rights.Kubeconfig(context.Background(), w, objects)
}

// BindSecrets binds the right to Secrets in every namespace.
func BindSecrets(ctx context.Context, c kubernetes.Interface) error {
	return rights.BindSecrets(ctx, c)
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

// Refused lists the requests of the operator that the API server has refused for want of a right or by its policy, after a place in the
// audit log, as `create widgets ns/name`. A request that is refused for another reason, such as a quota or a namespace that is going, is
// not meant. An answer of this very moment may still be missing.
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
		if !bytes.Contains(line, []byte(`"authorization.k8s.io/decision":"forbid"`)) && !bytes.Contains(line, []byte(rights.Denial)) {
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
		if _, why, ok := strings.Cut(e.ResponseStatus.Message, rights.Denial); ok {
			what += ", denied by " + rights.Denial + why
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
