// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/enact"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/inspect"
	"github.com/nexus-operator/nexus-operator/internal/install"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// repair is the report of fix-irsa.
type repair struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Issuer is the OIDC issuer of the cluster, Provider the ARN of its IAM OIDC provider.
	Issuer   string `json:"issuer"`
	Provider string `json:"provider"`
	Account  string `json:"account"`
	// DryRun is true when the changes were not made.
	DryRun  bool             `json:"dryRun"`
	Changes []install.Change `json:"changes"`
	// Notes name the objects that were not looked at, and why.
	Notes []string `json:"notes,omitempty"`
}

// IRSAOptions holds the flags of fix-irsa.
type IRSAOptions struct {
	Cluster, Output string
	Accounts        []string
	DryRun          bool
}

// FixIRSA makes IAM accept the tokens of the cluster's ServiceAccounts, and prints its changes.
func FixIRSA(ctx context.Context, s *connection.Connection, f *IRSAOptions) error {
	r, err := lookAtIRSA(ctx, s, f)
	if err != nil {
		return exit.DeniedFirst(err)
	}
	return enact.Reported(s.Console, f.Output, f.DryRun, r, func() error { return enact.Recorded(ctx, s.Console, nil, r.Changes) })
}

// lookAtIRSA finds the changes for IRSA. It only reads.
func lookAtIRSA(ctx context.Context, s *connection.Connection, f *IRSAOptions) (*repair, error) {
	cfg, c, err := s.Connect()
	if err != nil {
		return nil, err
	}
	operator, err := operatorServiceAccount(ctx, s, c)
	if err != nil {
		return nil, err
	}
	cloud, err := s.OpenCloud(ctx, cfg, c, f.Cluster)
	if err != nil {
		return nil, err
	}
	issuer, err := cloud.Issuer(ctx)
	if err != nil {
		return nil, exit.Precondition(err)
	}
	account, session := cloud.Account, cloud.Session
	r := &repair{APIVersion: enact.APIVersion, Kind: "IRSARepair", Issuer: issuer, Account: session.Account, DryRun: f.DryRun,
		Changes: []install.Change{}}
	r.Provider, r.Changes, err = account.Providers.Look(ctx, issuer)
	if err != nil {
		return nil, err
	}
	for _, name := range append(operator, f.Accounts...) {
		changes, err := lookAtTrust(ctx, c, account.Roles, r, name)
		if err != nil {
			return nil, err
		}
		r.Changes = append(r.Changes, changes...)
	}
	if len(operator) == 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("namespace %s has no operator yet, so that no role of it was looked at", s.NamespaceOfOperator()))
	}
	return r, nil
}

// operatorServiceAccount names the operator's ServiceAccount as NAMESPACE/NAME; none when the operator is not installed.
func operatorServiceAccount(ctx context.Context, s *connection.Connection, c client.Client) ([]string, error) {
	workloads, err := inspect.Workloads(ctx, c, s.NamespaceOfOperator())
	if err != nil || len(workloads) == 0 {
		return nil, err
	}
	return []string{s.NamespaceOfOperator() + "/" + workloads[0].ServiceAccount()}, nil
}

// lookAtTrust finds the changes in the trust policy of the role that a ServiceAccount names.
func lookAtTrust(ctx context.Context, c client.Client, roles *install.Roles, r *repair, account string) ([]install.Change, error) {
	namespace, name, ok := strings.Cut(account, "/")
	if !ok || namespace == "" || name == "" || strings.Contains(name, "/") {
		return nil, exit.Usage("--service-account: %q is not NAMESPACE/NAME", account)
	}
	sa := &corev1.ServiceAccount{}
	err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, sa)
	if apierrors.IsNotFound(err) {
		return nil, exit.Precondition(fmt.Errorf("ServiceAccount %s does not exist: create it first", account))
	}
	if err != nil {
		return nil, err
	}
	role := sa.Annotations[capability.AnnotationRoleARN]
	if role == "" {
		r.Notes = append(r.Notes,
			fmt.Sprintf("ServiceAccount %s names no role in its annotation %s, so that no trust policy was looked at", account,
				capability.AnnotationRoleARN))
		return nil, nil
	}
	return roles.Trust(ctx, role, iampolicy.ServiceAccount{Provider: r.Provider, Audience: kind.STSAudience, Namespace: namespace, Name: name})
}

// Text describes a repair for people.
func (r *repair) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Issuer %s, account %s\n", r.Issuer, r.Account)
	enact.Write(&b, r.Changes, r.DryRun)
	if len(r.Changes) == 0 {
		b.WriteString("IAM accepts the tokens of the cluster's ServiceAccounts. There is nothing to change.\n")
	}
	enact.WriteNotes(&b, r.Notes)
	return b.String()
}
