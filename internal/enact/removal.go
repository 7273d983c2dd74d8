// SPDX-License-Identifier: Apache-2.0

package enact

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/install"
)

// Removal lists the changes that remove the things that a ledger names, in their order.
type Removal struct {
	Client  client.Client
	Ledger  *install.Ledger
	Timeout time.Duration
	Changes []install.Change
}

// InAWS reports whether records name something in AWS.
func InAWS(records []install.Record) bool {
	for _, r := range records {
		if r.ARN != "" {
			return true
		}
	}
	return false
}

// RemovalsInAWS finds the resources to remove from the account: the role before its policies, and rules before their queue.
func RemovalsInAWS(ctx context.Context, a *install.Account, records []install.Record) ([]install.Change, error) {
	var out []install.Change
	for _, part := range []string{":role/", ":policy/", ":oidc-provider/", ":repository/", ":rule/", ":sqs:"} {
		for _, r := range records {
			if !strings.Contains(r.ARN, part) {
				continue
			}
			changes, err := a.Remove(ctx, r)
			if elsewhere, ok := errors.AsType[*install.ElsewhereError](err); ok {
				return nil, exit.Precondition(elsewhere)
			}
			if err != nil {
				return nil, err
			}
			out = append(out, changes...)
		}
	}
	return out, nil
}

// Print shows changes with their notes.
func Print(s *console.Console, changes []install.Change, notes []string, dryRun bool) error {
	var b strings.Builder
	Write(&b, changes, dryRun)
	WriteNotes(&b, notes)
	_, err := s.Out.Write([]byte(b.String()))
	return err
}

// Remove makes the changes. The pods of a workload are gone before the next change.
func Remove(ctx context.Context, s *console.Console, r Removal) (err error) {
	defer func() {
		ending, cancel := exit.Uncut(ctx, PatchTimeout)
		defer cancel()
		err = errors.Join(err, r.Ledger.Close(ending))
	}()
	limited, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	for _, c := range r.Changes {
		if err := Recorded(ctx, s, r.Ledger, []install.Change{c}); err != nil {
			return err
		}
		if IsWorkload(c) {
			if err := waitUntilGone(ctx, limited, r, *c.Removes); err != nil {
				return err
			}
		}
	}
	for _, c := range r.Changes {
		if c.Removes != nil && c.Removes.ARN == "" {
			if err := waitUntilGone(ctx, limited, r, *c.Removes); err != nil {
				return err
			}
		}
	}
	return nil
}

// IsWorkload reports whether a change ends pods.
func IsWorkload(c install.Change) bool { return c.Removes != nil && c.Removes.Kind == "Deployment" }

// waitUntilGone waits until an object is gone: of a workload, its pods have ended then.
func waitUntilGone(ctx, limited context.Context, of Removal, r install.Record) error {
	if r.UID == "" {
		return nil
	}
	err := WaitUntil(ctx, limited, func(ctx context.Context) (bool, error) {
		there, err := install.Objects{Client: of.Client}.IsThere(ctx, r)
		return !there, err
	})
	if limited.Err() != nil && ctx.Err() == nil {
		return &exit.Failure{Code: exit.CodeTimeout,
			Err: fmt.Errorf("%s: is not gone within %s: see kubectl describe, and run the command again", r, of.Timeout)}
	}
	return err
}
