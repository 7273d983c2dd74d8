// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"crypto/rand"
	_ "embed"
	"fmt"
	"os"
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

// controlPlane is the Kubernetes of a world, with its certificates and a client of its API server.
type controlPlane struct {
	components *components
	authority  *authority
	config     *rest.Config
	client     dynamic.Interface
}

func (c *controlPlane) start(ctx context.Context) error {
	begin := time.Now()
	parts := c.components
	etcd, server := parts.etcd(), parts.apiServer()
	if err := etcd.start(); err != nil {
		return err
	}
	if err := c.writeFiles(); err != nil {
		return err
	}
	definitions, err := definitionsOf(parts.options.CRDs)
	if err != nil {
		return err
	}
	file, err := storedFile(parts.options, definitions)
	if err != nil {
		return err
	}
	if err := parts.store().restore(ctx, etcd, file, parts.logf); err != nil {
		return err
	}
	if err := server.start(); err != nil {
		return err
	}
	if err := c.waitAPIServer(ctx, server); err != nil {
		return err
	}
	parts.logf("API server ready after %.1f s", time.Since(begin).Seconds())
	if err := c.installCRDs(ctx, definitions); err != nil {
		return err
	}
	if err := parts.store().save(ctx, file); err != nil {
		parts.logf("the next world begins with an empty API server: %v", err)
	}
	kwok, manager := parts.kwok(), parts.controllerManager()
	for _, p := range []*process{kwok, manager, parts.scheduler()} {
		if err := p.start(); err != nil {
			return err
		}
	}
	s := seeder{client: c.client, nodes: parts.options.Nodes, kwok: kwok, controllerManager: manager}
	if err := s.seed(ctx); err != nil {
		return err
	}
	parts.logf("cluster ready after %.1f s", time.Since(begin).Seconds())
	return nil
}

func (c *controlPlane) writeFiles() error {
	parts := c.components
	var err error
	if c.authority, err = newAuthority(); err != nil {
		return err
	}
	if err := c.authority.writeServerFiles(parts.dir); err != nil {
		return err
	}
	for name, text := range map[string][]byte{"audit-policy.yaml": []byte(auditPolicy), "stages.yaml": stages} {
		if err := os.WriteFile(parts.file(name), text, 0o644); err != nil {
			return err
		}
	}
	admin := "test-bed:admin"
	tokens, err := writeTokens(parts.file(tokensFile), admin, controllerManagerUser, schedulerUser, kwokUser)
	if err != nil {
		return err
	}
	c.config = c.tokenConfig(tokens[admin])
	if c.client, err = dynamic.NewForConfig(c.config); err != nil {
		return err
	}
	if err := WriteKubeconfig(parts.kubeconfig(), c.config); err != nil {
		return err
	}
	for name, user := range map[string]string{ControllerManager: controllerManagerUser, Scheduler: schedulerUser, Kwok: kwokUser} {
		if err := WriteKubeconfig(parts.file(name+".kubeconfig"), c.tokenConfig(tokens[user])); err != nil {
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
func writeTokens(path string, users ...string) (map[string]string, error) {
	tokens := map[string]string{}
	var text strings.Builder
	for _, user := range users {
		tokens[user] = rand.Text()
		fmt.Fprintf(&text, "%s,%s,%s,system:masters\n", tokens[user], user, user)
	}
	return tokens, os.WriteFile(path, []byte(text.String()), 0o600)
}

// tokenConfig returns a client configuration with a token.
func (c *controlPlane) tokenConfig(token string) *rest.Config {
	return &rest.Config{Host: c.components.loopback("https", portAPI), BearerToken: token,
		TLSClientConfig: rest.TLSClientConfig{CAData: c.authority.certPEM}, QPS: -1}
}

// userConfig returns a client configuration with a certificate.
func (c *controlPlane) userConfig(name string, groups []string) (*rest.Config, error) {
	cert, key, err := c.authority.issue(name, groups)
	if err != nil {
		return nil, err
	}
	return &rest.Config{
		Host:            c.components.loopback("https", portAPI),
		TLSClientConfig: rest.TLSClientConfig{CAData: c.authority.certPEM, CertData: cert, KeyData: key},
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
