// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

//go:embed stages.yaml
var stages []byte

// auditPolicy records who did what to which object, without bodies; probes of
// the server's own health are left out.
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
	if w.config, err = w.UserConfig("test-bed:admin", "system:masters"); err != nil {
		return err
	}
	if w.client, err = dynamic.NewForConfig(w.config); err != nil {
		return err
	}
	if err := WriteKubeconfig(w.Kubeconfig(), w.config); err != nil {
		return err
	}
	for _, name := range []string{ControllerManager, Scheduler, Kwok} {
		config, err := w.UserConfig("test-bed:"+name, "system:masters")
		if err != nil {
			return err
		}
		if err := WriteKubeconfig(w.file(name+".kubeconfig"), config); err != nil {
			return err
		}
	}
	return nil
}

// Config returns a new client configuration with every right, without client-side
// rate limits.
func (w *World) Config() *rest.Config { return rest.CopyConfig(w.config) }

// Kubeconfig returns the path of a kubeconfig file with every right.
func (w *World) Kubeconfig() string { return filepath.Join(w.dir, "kubeconfig") }

// UserConfig returns a client configuration of a user of that name and those
// groups, authenticated by a certificate. Its rights are what RBAC gives it:
// this returns how an operator runs under the rights that it ships with.
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
	k.AuthInfos[name] = &clientcmdapi.AuthInfo{ClientCertificateData: config.CertData, ClientKeyData: config.KeyData, Token: config.BearerToken}
	k.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	k.CurrentContext = name
	if err := clientcmd.WriteToFile(*k, path); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}
