// SPDX-License-Identifier: Apache-2.0

package awssession

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Issuer finds the cluster's OIDC issuer. The API server names it in /.well-known/openid-configuration. Reading it takes no right in AWS,
// and on EKS it is the issuer that IAM knows:
// https://kubernetes.io/docs/tasks/configure-pod-container/configure-service-account/#service-account-issuer-discovery
// Where the document cannot be read, or names an issuer that AWS cannot reach, EKS is asked about the cluster that the operator's
// --eks-cluster-name names.
type Issuer struct {
	api      rest.Interface
	sessions *awsclient.Sessions
	cluster  string
	region   string
	clock    clock.PassiveClock

	mu   sync.Mutex
	url  string
	err  error
	next time.Time // when to ask again after a failure
}

const (
	// issuerRetry limits how long a failure to find the issuer answers further calls.
	issuerRetry = 5 * time.Second
	// issuerTimeout bounds one attempt, because other passes wait for its outcome.
	issuerTimeout = 10 * time.Second
)

// NewIssuer prepares to find the issuer of cfg's cluster. Cluster is the name of the EKS cluster in the region; empty
// when unknown.
func NewIssuer(cfg *rest.Config, cluster, region string, sessions *awsclient.Sessions, c clock.PassiveClock) (*Issuer, error) {
	api, err := discovery.NewDiscoveryClientForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("making the discovery client: %w", err)
	}
	return &Issuer{api: api.RESTClient(), sessions: sessions, cluster: cluster, region: region, clock: c}, nil
}

// URL returns the issuer's URL, or a kind of failure with the reason and the remedy. An issuer that was found is kept; a failure is kept
// for a few seconds.
func (i *Issuer) URL(ctx context.Context) (string, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.url != "" || i.clock.Now().Before(i.next) {
		return i.url, i.err
	}
	asking, cancel := context.WithTimeout(ctx, issuerTimeout)
	defer cancel()
	found, err := i.find(asking)
	if ctx.Err() != nil {
		return "", &status.Waiting{Reason: status.ReasonIssuerUnknown, For: "the cluster's OIDC issuer to be known"}
	}
	i.url, i.err, i.next = found, err, i.clock.Now().Add(issuerRetry)
	return found, err
}

func (i *Issuer) find(ctx context.Context) (string, error) {
	found, err := i.wellKnown(ctx)
	if err == nil && isReachable(found) {
		return found, nil
	}
	if i.cluster == "" {
		return "", unknownIssuer(found, err)
	}
	session, err := i.sessions.Open(ctx, awsclient.Identity{Key: "operator", Region: i.region})
	if err != nil {
		return "", err
	}
	return session.ClusterIssuer(ctx, i.cluster)
}

func (i *Issuer) wellKnown(ctx context.Context) (string, error) {
	b, err := i.api.Get().AbsPath("/.well-known/openid-configuration").DoRaw(ctx)
	if err != nil {
		return "", err
	}
	var doc struct {
		Issuer string `json:"issuer"`
	}
	err = json.Unmarshal(b, &doc)
	return doc.Issuer, err
}

// unknownIssuer says why the API server did not lead to an issuer that AWS can reach.
func unknownIssuer(found string, err error) error {
	const remedy = "on EKS, start the operator with --eks-cluster-name (EKS_CLUSTER_NAME)"
	switch {
	case err == nil:
		return &status.Stalled{Reason: status.ReasonIssuerUnknown, Message: fmt.Sprintf(
			"the API server names the OIDC issuer %q, which AWS cannot reach: it must be an https URL with a public host name and no port; %s, "+
				"elsewhere start the API server with a public --service-account-issuer", status.Truncate(found, maxIssuer), remedy)}
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err), apierrors.IsNotFound(err):
		return &status.Stalled{Reason: status.ReasonIssuerUnknown, Cause: err,
			Message: "the operator cannot read /.well-known/openid-configuration of the API server: " +
				"bind ClusterRole system:service-account-issuer-discovery to its ServiceAccount; or, " + remedy}
	default:
		return &status.Waiting{Reason: status.ReasonIssuerUnknown, For: "the API server to answer /.well-known/openid-configuration"}
	}
}

const maxIssuer = 255

// isReachable reports whether IAM can fetch the keys of an issuer, as far as its URL tells: IAM takes https URLs
// without a port, and the default issuer of the API server is a name that only the cluster resolves.
// https://docs.aws.amazon.com/IAM/latest/APIReference/API_CreateOpenIDConnectProvider.html
func isReachable(issuer string) bool {
	u, err := url.Parse(issuer)
	if err != nil || u.Scheme != "https" || u.User != nil || u.Port() != "" || u.RawQuery != "" || u.Fragment != "" {
		return false
	}
	return isPublicHost(strings.ToLower(strings.TrimSuffix(u.Hostname(), ".")))
}

// isPublicHost reports whether a host name may resolve outside the cluster.
func isPublicHost(host string) bool {
	if net.ParseIP(host) != nil || !strings.Contains(host, ".") || strings.HasPrefix(host, "kubernetes.default") {
		return false
	}
	for _, inside := range []string{".svc", ".local", ".localhost", ".internal"} {
		if strings.HasSuffix(host, inside) {
			return false
		}
	}
	return true
}
