// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"crypto/rand"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

//go:embed stages.yaml
var stages []byte

// auditPolicy records the user, the request and the object, without bodies; probes of the server's own health are left out.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: None
  nonResourceURLs: ["/readyz*", "/livez*", "/healthz*"]
- level: Metadata
`

func (w *World) startControlPlane(ctx context.Context) error {
	begin := time.Now()
	etcd, server := w.etcdProcess(), w.apiServerProcess()
	if err := etcd.start(); err != nil {
		return err
	}
	if err := w.writeControlPlaneFiles(); err != nil {
		return err
	}
	definitions, err := w.definitions()
	if err != nil {
		return err
	}
	file, err := w.storedFile(definitions)
	if err != nil {
		return err
	}
	if err := w.restore(ctx, etcd, file); err != nil {
		return err
	}
	if err := server.start(); err != nil {
		return err
	}
	if err := w.waitAPIServer(ctx, server); err != nil {
		return err
	}
	w.logf("API server ready after %.1f s", time.Since(begin).Seconds())
	if err := w.installCRDs(ctx, definitions); err != nil {
		return err
	}
	if err := w.store(ctx, file); err != nil {
		w.logf("the next world begins with an empty API server: %v", err)
	}
	for _, p := range []*process{w.kwokProcess(), w.controllerManagerProcess(), w.schedulerProcess()} {
		if err := p.start(); err != nil {
			return err
		}
	}
	if err := w.seed(ctx); err != nil {
		return err
	}
	w.logf("cluster ready after %.1f s", time.Since(begin).Seconds())
	return nil
}

func (w *World) writeControlPlaneFiles() error {
	var err error
	if w.authority, err = newAuthority(); err != nil {
		return err
	}
	if err := w.authority.writeServerFiles(w.dir); err != nil {
		return err
	}
	for name, text := range map[string][]byte{"audit-policy.yaml": []byte(auditPolicy), "stages.yaml": stages} {
		if err := os.WriteFile(w.file(name), text, 0o644); err != nil {
			return err
		}
	}
	admin := "test-bed:admin"
	tokens, err := w.writeTokens(admin, controllerManagerUser, schedulerUser, kwokUser)
	if err != nil {
		return err
	}
	w.config = w.tokenConfig(tokens[admin])
	if w.client, err = dynamic.NewForConfig(w.config); err != nil {
		return err
	}
	if err := WriteKubeconfig(w.Kubeconfig(), w.config); err != nil {
		return err
	}
	for name, user := range map[string]string{ControllerManager: controllerManagerUser, Scheduler: schedulerUser, Kwok: kwokUser} {
		if err := WriteKubeconfig(w.file(name+".kubeconfig"), w.tokenConfig(tokens[user])); err != nil {
			return err
		}
	}
	return nil
}

// Users of the world's own programs, as the audit log shows them.
const (
	controllerManagerUser = "test-bed:" + ControllerManager
	schedulerUser         = "test-bed:" + Scheduler
	kwokUser              = "test-bed:" + Kwok
)

// tokensFile has the tokens of users with every right.
const tokensFile = "tokens.csv"

// writeTokens gives each user a token and every right. The API server verifies a certificate with each request, which was a tenth of
// its processor time, and looks a token up.
func (w *World) writeTokens(users ...string) (map[string]string, error) {
	tokens := map[string]string{}
	var text strings.Builder
	for _, user := range users {
		tokens[user] = rand.Text()
		fmt.Fprintf(&text, "%s,%s,%s,system:masters\n", tokens[user], user, user)
	}
	return tokens, os.WriteFile(w.file(tokensFile), []byte(text.String()), 0o600)
}

// tokenConfig returns a client configuration with a token.
func (w *World) tokenConfig(token string) *rest.Config {
	return &rest.Config{Host: w.loopback("https", w.ports[portAPI]), BearerToken: token,
		TLSClientConfig: rest.TLSClientConfig{CAData: w.authority.certPEM}, QPS: -1}
}

// Config returns a new client configuration with every right, without client-side
// rate limits.
func (w *World) Config() *rest.Config { return rest.CopyConfig(w.config) }

// Kubeconfig returns the path of a kubeconfig file with every right.
func (w *World) Kubeconfig() string { return filepath.Join(w.dir, "kubeconfig") }

// UserConfig returns a client configuration of a user of that name and those groups, authenticated by a certificate. RBAC decides its
// rights: with it, a test runs an operator under the rights that it ships with.
func (w *World) UserConfig(name string, groups ...string) (*rest.Config, error) {
	cert, key, err := w.authority.issue(name, groups)
	if err != nil {
		return nil, err
	}
	return &rest.Config{
		Host:            w.loopback("https", w.ports[portAPI]),
		TLSClientConfig: rest.TLSClientConfig{CAData: w.authority.certPEM, CertData: cert, KeyData: key},
		QPS:             -1,
	}, nil
}

// WriteKubeconfig writes a client configuration as a file that kubectl and
// every other client reads.
func WriteKubeconfig(path string, config *rest.Config) error {
	const name = "nexus-test-bed"
	k := clientcmdapi.NewConfig()
	k.Clusters[name] = &clientcmdapi.Cluster{Server: config.Host, CertificateAuthorityData: config.CAData}
	k.AuthInfos[name] = &clientcmdapi.AuthInfo{ClientCertificateData: config.CertData, ClientKeyData: config.KeyData,
		Token: config.BearerToken}
	k.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	k.CurrentContext = name
	if err := clientcmd.WriteToFile(*k, path); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}
