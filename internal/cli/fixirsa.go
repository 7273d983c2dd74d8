// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/internal/capability"
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
	// Notes name what was not looked at, and why.
	Notes []string `json:"notes,omitempty"`
}

// irsaFlags holds the flags of fix-irsa.
type irsaFlags struct {
	cluster, output string
	accounts        []string
	dryRun          bool
}

func (s *shared) fixIRSACommand() *cobra.Command {
	f := &irsaFlags{}
	cmd := &cobra.Command{
		Use:   "fix-irsa",
		Short: "Make IAM accept the tokens of the cluster's ServiceAccounts",
		Long: "fix-irsa creates the IAM OIDC provider of the cluster's issuer where it is missing, and adds the audience " + kind.STSAudience + ".\n" +
			"It repairs the trust policy of the role that the operator's ServiceAccount names: statements for the ServiceAccount whose\n" +
			"provider does not exist any more, as after the cluster was created again, get the present one. It prints the difference\n" +
			"before each change. Statements about other clusters stay. The roles of capabilities are kept by the operator itself.",
		Example: "  nexusctl fix-irsa --dry-run\n  nexusctl fix-irsa --service-account team-a/reports",
		Args:    arguments(cobra.NoArgs),
		RunE:    func(cmd *cobra.Command, _ []string) error { return s.fixIRSA(cmd.Context(), f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.cluster, "cluster-name", "", "EKS cluster, asked for its issuer where the API server names none that AWS can reach (EKS_CLUSTER_NAME; default: that of the kubeconfig)")
	flags.StringSliceVar(&f.accounts, "service-account", nil, "NAMESPACE/NAME of another ServiceAccount whose role is repaired; may be repeated")
	flags.BoolVar(&f.dryRun, "dry-run", false, "print what would change, and change nothing")
	outputFlag(cmd, &f.output, "text", "json", "yaml")
	return cmd
}

func (s *shared) fixIRSA(ctx context.Context, f *irsaFlags) error {
	r, err := s.lookAtIRSA(ctx, f)
	if err != nil {
		return exit.DeniedFirst(err)
	}
	return enact.Reported(s.Console, f.output, f.dryRun, r, func() error { return enact.Recorded(ctx, s.Console, nil, r.Changes) })
}

// lookAtIRSA finds what is to change. It only reads.
func (s *shared) lookAtIRSA(ctx context.Context, f *irsaFlags) (*repair, error) {
	cfg, c, err := s.Connect()
	if err != nil {
		return nil, err
	}
	operator, err := s.operatorServiceAccount(ctx, c)
	if err != nil {
		return nil, err
	}
	cloud, err := s.OpenCloud(ctx, cfg, c, f.cluster)
	if err != nil {
		return nil, err
	}
	issuer, err := cloud.Issuer(ctx)
	if err != nil {
		return nil, exit.Precondition(err)
	}
	account, session := cloud.Account, cloud.Session
	r := &repair{APIVersion: enact.APIVersion, Kind: "IRSARepair", Issuer: issuer, Account: session.Account, DryRun: f.dryRun, Changes: []install.Change{}}
	r.Provider, r.Changes, err = account.OIDCProvider(ctx, issuer)
	if err != nil {
		return nil, err
	}
	for _, name := range append(operator, f.accounts...) {
		changes, err := s.lookAtTrust(ctx, c, account, r, name)
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
func (s *shared) operatorServiceAccount(ctx context.Context, c client.Client) ([]string, error) {
	workloads, err := inspect.Workloads(ctx, c, s.NamespaceOfOperator())
	if err != nil || len(workloads) == 0 {
		return nil, err
	}
	return []string{s.NamespaceOfOperator() + "/" + workloads[0].ServiceAccount()}, nil
}

// lookAtTrust finds what is to change in the trust policy of the role that a ServiceAccount names.
func (s *shared) lookAtTrust(ctx context.Context, c client.Client, a *install.Account, r *repair, account string) ([]install.Change, error) {
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
		r.Notes = append(r.Notes, fmt.Sprintf("ServiceAccount %s names no role in its annotation %s, so that no trust policy was looked at", account, capability.AnnotationRoleARN))
		return nil, nil
	}
	return a.Trust(ctx, role, iampolicy.ServiceAccount{Provider: r.Provider, Audience: kind.STSAudience, Namespace: namespace, Name: name})
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
