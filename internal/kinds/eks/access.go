// SPDX-License-Identifier: Apache-2.0

package eks

import (
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// AccessEntry holds the Kubernetes groups of an access entry.
type AccessEntry struct {
	Groups []string `drift:"set"`
}

// AccessScope says where an access policy holds: in the whole cluster, or in namespaces.
type AccessScope struct {
	Namespaces []string `drift:"set"`
}

// policyKey is the key of a policy of a principal. Neither contains a space.
func policyKey(principal, policy string) string { return principal + " " + policy }

// declareAccess adds the access entries of the spec, and as nil those that the operator made before. The policies of an entry go with it.
func declareAccess(sc kind.Scope, cr *v1alpha1.EKSCluster, s *ClusterState) {
	entries := slices.Concat(cr.Status.ManagedAccessEntries, sc.Keys["Entries"])
	if len(entries)+len(cr.Spec.AccessEntries) == 0 {
		return
	}
	s.Entries, s.Policies = map[string]*AccessEntry{}, map[string]*AccessScope{}
	for _, principal := range entries {
		s.Entries[principal] = nil
	}
	declared := map[string]bool{}
	for _, in := range cr.Spec.AccessEntries {
		declared[in.PrincipalARN] = true
	}
	for _, key := range slices.Concat(cr.Status.ManagedAccessPolicies, sc.Keys["Policies"]) {
		if principal, _, _ := strings.Cut(key, " "); declared[principal] {
			s.Policies[key] = nil
		}
	}
	for _, in := range cr.Spec.AccessEntries {
		s.Entries[in.PrincipalARN] = &AccessEntry{Groups: append([]string{}, in.KubernetesGroups...)}
		for _, p := range in.Policies {
			arn := "arn:" + sc.Partition + ":eks::aws:cluster-access-policy/" + p.PolicyName
			s.Policies[policyKey(in.PrincipalARN, arn)] = &AccessScope{Namespaces: append([]string{}, p.Namespaces...)}
		}
	}
}

// The stages that follow those of the updates of a cluster.
const (
	afterUpdates = 10
	afterAccess  = 20
)

// accessParts follow the updates of the cluster, because one of these may allow access entries. Entries are removed after all others have
// their policies: the last administrator stays while the next one cannot be made.
func (c *cluster) accessParts() []kind.Part[ClusterState] {
	at := func(n int) func(ClusterState, ClusterState) int {
		return func(ClusterState, ClusterState) int { return afterUpdates + n }
	}
	call := func(action string, do func(ctx context.Context, want, have ClusterState, key string) error) kind.KeysCall[ClusterState] {
		return kind.KeysCall[ClusterState]{Action: action, Do: func(ctx context.Context, want, have ClusterState, keys []string) error {
			return do(ctx, want, have, keys[0])
		}}
	}
	associate := call("eks:AssociateAccessPolicy", c.associate)
	return []kind.Part[ClusterState]{
		{Fields: []string{"Entries"}, Reads: "eks:ListAccessEntries", Read: c.access, Stage: at(0), Keys: &kind.Keys[ClusterState]{OneByOne: true, UnsetStages: 4,
			Set: call("eks:CreateAccessEntry", c.createEntry), Change: call("eks:UpdateAccessEntry", c.updateEntry), Unset: call("eks:DeleteAccessEntry", c.deleteEntry)}},
		{Fields: []string{"Policies"}, Stage: at(2), Keys: &kind.Keys[ClusterState]{OneByOne: true,
			Set: associate, Change: associate, Unset: call("eks:DisassociateAccessPolicy", c.disassociate)}},
	}
}

func (c *cluster) createEntry(ctx context.Context, want, _ ClusterState, principal string) error {
	_, err := c.api.CreateAccessEntry(ctx, &eks.CreateAccessEntryInput{ClusterName: &want.Name, PrincipalArn: &principal, KubernetesGroups: want.Entries[principal].Groups})
	return err
}

func (c *cluster) updateEntry(ctx context.Context, want, _ ClusterState, principal string) error {
	_, err := c.api.UpdateAccessEntry(ctx, &eks.UpdateAccessEntryInput{ClusterName: &want.Name, PrincipalArn: &principal, KubernetesGroups: want.Entries[principal].Groups})
	return err
}

func (c *cluster) deleteEntry(ctx context.Context, want, _ ClusterState, principal string) error {
	_, err := c.api.DeleteAccessEntry(ctx, &eks.DeleteAccessEntryInput{ClusterName: &want.Name, PrincipalArn: &principal})
	return unlessGone(err)
}

// associate also changes the scope of a policy that the principal has.
func (c *cluster) associate(ctx context.Context, want, _ ClusterState, key string) error {
	principal, policy, _ := strings.Cut(key, " ")
	scope := &types.AccessScope{Type: types.AccessScopeTypeCluster}
	if names := want.Policies[key].Namespaces; len(names) > 0 {
		scope = &types.AccessScope{Type: types.AccessScopeTypeNamespace, Namespaces: names}
	}
	_, err := c.api.AssociateAccessPolicy(ctx, &eks.AssociateAccessPolicyInput{ClusterName: &want.Name, PrincipalArn: &principal, PolicyArn: &policy, AccessScope: scope})
	return err
}

func (c *cluster) disassociate(ctx context.Context, want, _ ClusterState, key string) error {
	principal, policy, _ := strings.Cut(key, " ")
	_, err := c.api.DisassociateAccessPolicy(ctx, &eks.DisassociateAccessPolicyInput{ClusterName: &want.Name, PrincipalArn: &principal, PolicyArn: &policy})
	return unlessGone(err)
}

// access reads the access entries that are declared or recorded, with their policies. EKS lists none while only the ConfigMap counts.
func (c *cluster) access(ctx context.Context, want ClusterState, have *ClusterState) error {
	have.Entries, have.Policies = map[string]*AccessEntry{}, map[string]*AccessScope{}
	if modeOf(*have) == 0 {
		return nil
	}
	in := &eks.ListAccessEntriesInput{ClusterName: &want.Name}
	principals, err := kind.Pages(ctx, c.api.ListAccessEntries, in, &in.NextToken, func(out *eks.ListAccessEntriesOutput) ([]string, *string) { return out.AccessEntries, out.NextToken })
	if err != nil {
		return err
	}
	for _, principal := range principals {
		switch wanted, ours := want.Entries[principal]; {
		case ours && wanted == nil:
			have.Entries[principal] = &AccessEntry{}
		case ours:
			if err := c.entry(ctx, want, have, principal); err != nil {
				return err
			}
		}
	}
	return nil
}

// entry reads one access entry and its policies.
func (c *cluster) entry(ctx context.Context, want ClusterState, have *ClusterState, principal string) error {
	out, err := c.api.DescribeAccessEntry(ctx, &eks.DescribeAccessEntryInput{ClusterName: &want.Name, PrincipalArn: &principal})
	if err != nil {
		return unlessGone(err)
	}
	have.Entries[principal] = &AccessEntry{Groups: kind.NonNil(out.AccessEntry).KubernetesGroups}
	in := &eks.ListAssociatedAccessPoliciesInput{ClusterName: &want.Name, PrincipalArn: &principal}
	associated, err := kind.Pages(ctx, c.api.ListAssociatedAccessPolicies, in, &in.NextToken, func(out *eks.ListAssociatedAccessPoliciesOutput) ([]types.AssociatedAccessPolicy, *string) {
		return out.AssociatedAccessPolicies, out.NextToken
	})
	for _, p := range associated {
		key := policyKey(principal, aws.ToString(p.PolicyArn))
		if _, ours := want.Policies[key]; ours {
			have.Policies[key] = &AccessScope{Namespaces: kind.NonNil(p.AccessScope).Namespaces}
		}
	}
	return unlessGone(err)
}
