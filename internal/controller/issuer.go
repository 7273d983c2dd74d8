package controller

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
)

// issuer finds the cluster's OIDC issuer without any right in AWS: the API server says it in
// /.well-known/openid-configuration, and on EKS that is the issuer IAM knows.
// https://kubernetes.io/docs/tasks/configure-pod-container/configure-service-account/#service-account-issuer-discovery
type issuer struct {
	api *discovery.DiscoveryClient

	mu  sync.Mutex
	url string
}

func newIssuer(cfg *rest.Config) (*issuer, error) {
	api, err := discovery.NewDiscoveryClientForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("making the discovery client: %w", err)
	}
	return &issuer{api: api}, nil
}

// get returns the issuer's URL, or "" while it is unknown; it asks until it knows.
func (i *issuer) get(ctx context.Context) string {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.url != "" {
		return i.url
	}
	b, err := i.api.RESTClient().Get().AbsPath("/.well-known/openid-configuration").DoRaw(ctx)
	if err != nil {
		return ""
	}
	var doc struct {
		Issuer string `json:"issuer"`
	}
	if json.Unmarshal(b, &doc) == nil {
		i.url = doc.Issuer
	}
	return i.url
}
