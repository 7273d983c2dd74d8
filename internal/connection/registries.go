// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"

	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/image"
	"github.com/nexus-operator/nexus-operator/internal/install"
)

// Registries are the way to container registries, with the caller's credentials.
type Registries struct {
	*Connection
	mu     sync.Mutex
	logins map[string]login
}

// NewRegistries returns registries before any request for a token.
func NewRegistries(s *Connection) *Registries {
	return &Registries{Connection: s, logins: map[string]login{}}
}

// login is the caller's login at a registry in ECR.
type login struct{ user, password string }

// Session opens the caller's account, in the region of a registry or, without one, in the caller's own.
func (t *Registries) Session(ctx context.Context, region string) (*awsclient.Session, error) {
	o, err := t.OfflineOptions()
	if err != nil {
		return nil, err
	}
	session, err := t.Sessions().Open(ctx, awsclient.Identity{Key: "registry", Region: cmp.Or(region, o.AWS.Region)})
	if err != nil {
		return nil, exit.Precondition(err)
	}
	return session, nil
}

// Registry is the way to registries, with progress.
func (t *Registries) Registry() image.Registry {
	var last time.Time
	return image.Registry{Keychain: t, Agent: "nexusctl", Progress: func(sent, total int64) {
		if now := t.Clock.Now(); sent == total || now.Sub(last) > 2*time.Second {
			last = now
			t.Say("Sent %d of %d kB.", sent/1000, total/1000)
		}
	}}
}

// Resolve implements authn.Keychain, for a caller without a context.
func (t *Registries) Resolve(r authn.Resource) (authn.Authenticator, error) {
	return authn.DefaultKeychain.Resolve(r)
}

// ResolveContext implements authn.ContextKeychain: a token of ECR for its registries, and for the others the configured credentials.
func (t *Registries) ResolveContext(ctx context.Context, r authn.Resource) (authn.Authenticator, error) {
	region, ours := install.RegistryRegion(r.RegistryStr())
	if !ours {
		return authn.Resolve(ctx, authn.DefaultKeychain, r)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	have, known := t.logins[region]
	if !known {
		session, err := t.Session(ctx, region)
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

// ExplainRegistry makes missing rights and credentials a precondition.
func ExplainRegistry(err error) error {
	if denied, ok := errors.AsType[*image.DeniedError](err); ok {
		return exit.Precondition(fmt.Errorf("%w: log in to the registry with docker login or podman login; for ECR, ask for the rights that nexusctl iam policy installer prints", denied))
	}
	return exit.DeniedFirst(err)
}
