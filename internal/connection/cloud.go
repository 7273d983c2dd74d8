// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/awssession"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/install"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/options"
)

// Cloud is the account that the caller's credentials lead to, looked at for a cluster.
type Cloud struct {
	Session *awsclient.Session
	Account *install.Account
	finder  *awssession.Issuer
}

// Issuer is the OIDC issuer of the cluster.
func (c *Cloud) Issuer(ctx context.Context) (string, error) { return c.finder.URL(ctx) }

// OpenCloud opens the account for the cluster, which the UID of namespace kube-system identifies in AWS tags.
func (s *Connection) OpenCloud(ctx context.Context, cfg *rest.Config, c client.Client, eks string) (*Cloud, error) {
	o, err := s.OfflineOptions()
	if err != nil {
		return nil, err
	}
	sessions := s.Sessions()
	finder, err := awssession.NewIssuer(cfg, s.EKSCluster(eks), o.AWS.Region, sessions, s.Clock)
	if err != nil {
		return nil, err
	}
	session, err := sessions.Open(ctx, awsclient.Identity{Key: "caller", Region: o.AWS.Region})
	if err != nil {
		return nil, exit.Precondition(err)
	}
	id, err := ClusterID(ctx, c)
	if err != nil {
		return nil, err
	}
	return &Cloud{Session: session, Account: install.NewAccount(session, id), finder: finder}, nil
}

// ClusterID identifies a cluster in AWS tags.
func ClusterID(ctx context.Context, c client.Client) (string, error) {
	ns := &corev1.Namespace{}
	if err := c.Get(ctx, client.ObjectKey{Name: "kube-system"}, ns); err != nil {
		return "", exit.Precondition(fmt.Errorf("reading namespace kube-system, whose UID identifies the cluster in AWS tags: %w", err))
	}
	return string(ns.UID), nil
}

// Metas describe every AWS kind.
func (s *Connection) Metas() []kind.Meta {
	out, _ := s.MetasOf(nil) // names no kind that there is not
	return out
}

// MetasOf describe the selected AWS kinds.
func (s *Connection) MetasOf(selected options.Kinds) ([]kind.Meta, error) {
	var out []kind.Meta
	var names []string
	for _, e := range s.Kinds() {
		if names = append(names, e.Name()); selected.Serves(e.Name()) {
			out = append(out, e.Meta())
		}
	}
	return out, selected.Check(names)
}

// DefaultRepository is the name of the image repository, and of the image.
const DefaultRepository = OperatorName

// ImageOf is the operator's image as a pod names it, that of this version in the account's own registry unless it is
// named. It is nil for an image in another registry, and has no name where this program has no version.
func (s *Connection) ImageOf(r *install.Registry, named string) (*install.Image, string) {
	if image, ours := r.ParseImage(named); ours {
		return &image, named
	}
	if named != "" || s.Version == "" || strings.HasPrefix(s.Version, "(") {
		return nil, named
	}
	image := install.Image{Repository: DefaultRepository, Version: strings.TrimPrefix(s.Version, "v")} // as the chart names it
	return &image, r.ImageName(image)
}
