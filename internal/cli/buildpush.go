// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"

	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/image"
	"github.com/nexus-operator/nexus-operator/internal/install"
)

// clusterTimeout ends the look for the cluster that a new repository is marked with.
const clusterTimeout = 10 * time.Second

// pushTarget is the reference that an image is pushed to, with the credentials of registries.
type pushTarget struct {
	*shared
	ref    name.Tag
	mu     sync.Mutex
	logins map[string]login
}

// login is the caller's login at a registry in ECR.
type login struct{ user, password string }

// session opens the caller's account, in the region of a registry or, without one, in the caller's own.
func (t *pushTarget) session(ctx context.Context, region string) (*awsclient.Session, error) {
	o, err := t.OfflineOptions()
	if err != nil {
		return nil, err
	}
	session, err := t.Sessions().Open(ctx, awsclient.Identity{Key: "registry", Region: cmp.Or(region, o.Region)})
	if err != nil {
		return nil, exit.Precondition(err)
	}
	return session, nil
}

// registry is the way to registries, with progress.
func (t *pushTarget) registry() image.Registry {
	var last time.Time
	return image.Registry{Keychain: t, Agent: "nexusctl", Progress: func(sent, total int64) {
		if now := t.Clock.Now(); sent == total || now.Sub(last) > 2*time.Second {
			last = now
			t.Say("Sent %d of %d kB.", sent/1000, total/1000)
		}
	}}
}

// Resolve implements authn.Keychain, for a caller without a context.
func (t *pushTarget) Resolve(r authn.Resource) (authn.Authenticator, error) {
	return authn.DefaultKeychain.Resolve(r)
}

// ResolveContext implements authn.ContextKeychain: a token of ECR for its registries, and for the others what is configured.
func (t *pushTarget) ResolveContext(ctx context.Context, r authn.Resource) (authn.Authenticator, error) {
	region, ours := install.RegistryRegion(r.RegistryStr())
	if !ours {
		return authn.Resolve(ctx, authn.DefaultKeychain, r)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	have, known := t.logins[region]
	if !known {
		session, err := t.session(ctx, region)
		if err != nil {
			return nil, err
		}
		if have.user, have.password, err = install.RegistryLogin(ctx, session.Config); err != nil {
			return nil, err
		}
		t.logins[region] = have
	}
	return &authn.Basic{Username: have.user, Password: have.password}, nil
}

// lookAtRepository finds whether the repository has to be created first, in the caller's own registry in ECR.
func (t *pushTarget) lookAtRepository(ctx context.Context, report *imageBuild) ([]install.Change, error) {
	none := []install.Change{}
	region, inECR := install.RegistryRegion(t.ref.RegistryStr())
	if !inECR {
		return none, nil
	}
	session, err := t.session(ctx, region)
	if err != nil {
		return none, err
	}
	target, ours := install.NewAccount(session, "").ParseImage(t.ref.Name())
	if !ours {
		return none, nil
	}
	if changes, _, err := install.NewAccount(session, "").Repository(ctx, target); err != nil || len(changes) == 0 {
		return none, err
	}
	cluster, err := t.nearbyCluster(ctx)
	if err != nil && ctx.Err() == nil {
		report.Notes = append(report.Notes, "the cluster cannot be reached, so that the new repository is not marked as belonging to it, and nexusctl delete --full leaves it")
	}
	changes, _, err := install.NewAccount(session, cluster).Repository(ctx, target)
	return changes, err
}

// nearbyCluster identifies the cluster, if it can be reached.
func (t *pushTarget) nearbyCluster(ctx context.Context) (string, error) {
	limited, cancel := context.WithTimeout(ctx, clusterTimeout)
	defer cancel()
	_, c, err := t.Connect()
	if err != nil {
		return "", err
	}
	return connection.ClusterID(limited, c)
}

// explainRegistry makes missing rights and credentials a precondition.
func explainRegistry(err error) error {
	if denied, ok := errors.AsType[*image.DeniedError](err); ok {
		return exit.Precondition(fmt.Errorf("%w: log in to the registry with docker login or podman login; for ECR, ask for the rights that nexusctl iam policy installer prints", denied))
	}
	return exit.DeniedFirst(err)
}
