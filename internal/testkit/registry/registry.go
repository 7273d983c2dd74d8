// SPDX-License-Identifier: Apache-2.0

// Package registry runs container registries for tests: a plain one, and one that answers under the names of ECR and has the
// repositories and credentials of the emulated AWS.
package registry

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ecr"
	ecrtypes "github.com/aws/aws-sdk-go-v2/service/ecr/types"
	"github.com/google/go-containerregistry/pkg/registry"
)

// Start runs a registry without credentials until the test ends, and returns its host.
func Start(t testing.TB) string {
	t.Helper()
	s := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

// ECR is the registry of an emulated account. Programs reach it under its name in AWS, through a proxy.
type ECR struct {
	// Host is the registry's name in AWS.
	Host string

	uploads atomic.Int64
	// Hold is called before each upload; nil for nothing.
	Hold  func()
	env   []string
	aws   *ecr.Client
	inner http.Handler
}

// StartECR runs the registry of an account in a region until the test ends.
func StartECR(t testing.TB, account string, cfg aws.Config) *ECR {
	t.Helper()
	r := &ECR{Host: account + ".dkr.ecr." + cfg.Region + ".amazonaws.com", aws: ecr.NewFromConfig(cfg),
		inner: registry.New(registry.Logger(log.New(io.Discard, "", 0)))}
	certificate, authority := selfSigned(t, r.Host)
	server := httptest.NewUnstartedServer(r)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	server.StartTLS()
	t.Cleanup(server.Close)
	proxy := httptest.NewServer(tunnel{host: r.Host + ":443", to: server.Listener.Addr().String()})
	t.Cleanup(proxy.Close)
	path := filepath.Join(t.TempDir(), "authority.pem")
	if err := os.WriteFile(path, authority, 0o600); err != nil {
		t.Fatal(err)
	}
	r.env = []string{"HTTPS_PROXY=" + proxy.URL, "SSL_CERT_FILE=" + path}
	return r
}

// Env are the variables that a program needs to reach the registry.
func (r *ECR) Env() []string { return r.env }

// Uploads is the number of layers and manifests that were sent.
func (r *ECR) Uploads() int64 { return r.uploads.Load() }

// ServeHTTP implements http.Handler: ECR asks for credentials, has no repositories but those that were created, and shows its
// images in its API.
func (r *ECR) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	user, password, _ := q.BasicAuth()
	if user != "AWS" || password == "" {
		w.Header().Set("WWW-Authenticate", `Basic realm="https://`+r.Host+`/",service="ecr.amazonaws.com"`)
		http.Error(w, `{"errors":[{"code":"UNAUTHORIZED","message":"Not Authorized"}]}`, http.StatusUnauthorized)
		return
	}
	repository := repositoryIn(q.URL.Path)
	if repository == "" {
		r.inner.ServeHTTP(w, q)
		return
	}
	if _, err := r.aws.DescribeRepositories(q.Context(), &ecr.DescribeRepositoriesInput{RepositoryNames: []string{repository}}); err != nil {
		http.Error(w, `{"errors":[{"code":"NAME_UNKNOWN","message":"The repository with name '`+repository+`' does not exist in the registry"}]}`,
			http.StatusNotFound)
		return
	}
	if q.Method == http.MethodPut || q.Method == http.MethodPatch {
		if r.Hold != nil {
			r.Hold()
		}
		r.uploads.Add(1)
	}
	if _, reference, ok := strings.Cut(q.URL.Path, "/manifests/"); ok && !r.manifest(w, q, repository, reference) {
		return
	}
	r.inner.ServeHTTP(w, q)
}

// manifest records a manifest that is pushed in the emulated account, and asks the account for each other one. It answers the
// request, and returns false, when the account refuses the manifest or does not have it.
func (r *ECR) manifest(w http.ResponseWriter, q *http.Request, repository, reference string) bool {
	if q.Method != http.MethodPut {
		has, err := r.has(q.Context(), repository, reference)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		} else if !has {
			http.Error(w, `{"errors":[{"code":"MANIFEST_UNKNOWN","message":"Requested image not found"}]}`, http.StatusNotFound)
		}
		return has
	}
	text, err := io.ReadAll(q.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return false
	}
	q.Body = io.NopCloser(bytes.NewReader(text))
	if err := r.record(q.Context(), repository, reference, q.Header.Get("Content-Type"), text); err != nil {
		http.Error(w, `{"errors":[{"code":"MANIFEST_INVALID","message":"`+fmt.Sprintf("%q", err.Error())+`"}]}`, http.StatusBadRequest)
		return false
	}
	return true
}

// has reports whether the account has an image. The registry itself keeps the images of a repository that was deleted.
func (r *ECR) has(ctx context.Context, repository, reference string) (bool, error) {
	id := ecrtypes.ImageIdentifier{ImageTag: &reference}
	if isDigest(reference) {
		id = ecrtypes.ImageIdentifier{ImageDigest: &reference}
	}
	out, err := r.aws.BatchGetImage(ctx, &ecr.BatchGetImageInput{RepositoryName: &repository, ImageIds: []ecrtypes.ImageIdentifier{id}})
	return err == nil && len(out.Images) > 0, err
}

// record puts an image into the emulated account, where its API shows it. Those of an index's platforms have no tag.
func (r *ECR) record(ctx context.Context, repository, reference, mediaType string, manifest []byte) error {
	digest := fmt.Sprintf("sha256:%x", sha256.Sum256(manifest)) // which the emulated ECR computes otherwise
	in := &ecr.PutImageInput{RepositoryName: &repository, ImageDigest: &digest, ImageManifest: aws.String(string(manifest)),
		ImageManifestMediaType: &mediaType}
	if !isDigest(reference) {
		in.ImageTag = &reference
	}
	_, err := r.aws.PutImage(ctx, in)
	return err
}

func isDigest(reference string) bool { return strings.HasPrefix(reference, "sha256:") }

// repositoryIn is the repository that a path of the registry's API names.
func repositoryIn(path string) string {
	rest, ok := strings.CutPrefix(path, "/v2/")
	for _, part := range []string{"/manifests/", "/blobs/", "/tags/"} {
		if name, _, found := strings.Cut(rest, part); found && ok {
			return name
		}
	}
	return ""
}

// tunnel is a proxy that leads one host to a server of the test, and refuses all others.
type tunnel struct{ host, to string }

// ServeHTTP implements http.Handler.
func (p tunnel) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	if q.Method != http.MethodConnect || q.Host != p.host {
		http.Error(w, "this proxy leads to "+p.host+" only", http.StatusForbidden)
		return
	}
	server, err := net.Dial("tcp", p.to)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	client, buffered, err := w.(http.Hijacker).Hijack()
	if err != nil {
		_ = server.Close()
		return
	}
	_, _ = client.Write([]byte("HTTP/1.1 200 OK\r\n\r\n"))
	go func() {
		_, _ = io.Copy(server, buffered)
		_ = server.Close()
	}()
	_, _ = io.Copy(client, server)
	_ = client.Close()
}

// selfSigned is a certificate for a host, and the same as the authority that a program is to trust.
func selfSigned(t testing.TB, host string) (tls.Certificate, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: host}, DNSNames: []string{host},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}
