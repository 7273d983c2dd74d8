// SPDX-License-Identifier: Apache-2.0

package eks

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// ClusterState is a cluster as both the spec and EKS can express it.
type ClusterState struct {
	Name string `drift:"identity"`
	ARN  string `drift:"id"`
	// Own is set for the cluster that the operator runs in.
	Own bool `drift:"id"`
	// Found holds the description by EKS.
	Found types.Cluster `drift:"observed"`

	Role *string `drift:"immutable"`
	// Key encrypts Secrets; "" is none.
	Key *string `drift:"immutable"`

	PublicAccess, PrivateAccess *bool
	CIDRs, Subnets, Groups      []string `drift:"set"`
	// Logs are the types of logs that are sent.
	Logs               *[]string `drift:"set"`
	AuthenticationMode *string
	// SupportType selects the behavior of EKS at the end of standard support.
	SupportType *string
	// CreatorIsAdmin is sent with the create.
	CreatorIsAdmin     *bool `drift:"id"`
	DeletionProtection *bool
	Version            *string
	// Entries are access entries by principal, and Policies the scopes of their access policies, by principal and policy; nil for one that
	// the operator made and the spec dropped.
	Entries  map[string]*AccessEntry `drift:"keys"`
	Policies map[string]*AccessScope `drift:"keys"`
	Tags     map[string]string       `drift:"tags"`
}

// modes are the ways to authenticate users, in the order of EKS's changes. Read only.
var modes = []types.AuthenticationMode{types.AuthenticationModeConfigMap, types.AuthenticationModeApiAndConfigMap, types.AuthenticationModeApi}

type cluster struct {
	api *eks.Client
	// ec2 and tags find the resources that controllers in a cluster made.
	ec2  *ec2.Client
	tags *resourcegroupstaggingapi.Client
}

// NewCluster binds the EKSCluster kind to an identity. Its IAM actions:
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonelastickubernetesservice.html
func NewCluster(cfg aws.Config) kind.Kind[*v1alpha1.EKSCluster, ClusterState] {
	c := &cluster{api: eks.NewFromConfig(cfg), ec2: ec2.NewFromConfig(cfg), tags: resourcegroupstaggingapi.NewFromConfig(cfg)}
	return kind.FromTable(kind.Table[*v1alpha1.EKSCluster, ClusterState]{
		Meta: kind.Meta{Facts: clusterFacts(), Identity: kind.ByName, HoldsData: true, Retains: true, CreatesFirst: true, Users: kind.UsersOfNamespace, References: []string{"IAMRole", "KMSKey", "SecurityGroup", "Subnet"},
			Reads: []string{"eks:ListUpdates", "eks:DescribeUpdate", "eks:DescribeAccessEntry", "eks:ListAssociatedAccessPolicies"}},
		// The deletion protection is included: false is the consent to lift it for a deletion.
		Identify: func(sc kind.Scope, cr *v1alpha1.EKSCluster) (ClusterState, error) {
			return ClusterState{Name: cr.Spec.ClusterName, Own: sc.Federation.EKSCluster == cr.Spec.ClusterName,
				DeletionProtection: cr.Spec.DeletionProtection}, nil
		},
		Declare: declareCluster, Publish: publishCluster, Refuse: refuseCluster, WhyNotAdopted: whyNotAdopted, Roles: kind.Roles[ClusterState]{Of: rolesOf},
		Export:   kind.Export[*v1alpha1.EKSCluster, ClusterState]{Identity: []string{"clusterName"}, Spec: exportedCluster},
		Describe: kind.Read[ClusterState]{Actions: []string{"eks:DescribeCluster"}, Do: c.describe},
		Create:   kind.Call[ClusterState]{Action: "eks:CreateCluster", Do: c.create},
		Tagging: kind.Tagging[ClusterState]{
			Sets: "eks:TagResource", Set: kind.Send(c.api.TagResource, func(have ClusterState, tags map[string]string) *eks.TagResourceInput {
				return &eks.TagResourceInput{ResourceArn: &have.ARN, Tags: tags}
			}),
			Removes: "eks:UntagResource", Remove: kind.Send(c.api.UntagResource, func(have ClusterState, keys []string) *eks.UntagResourceInput {
				return &eks.UntagResourceInput{ResourceArn: &have.ARN, TagKeys: keys}
			}),
		},
		Parts: append(c.parts(), c.accessParts()...),
		Holds: c.holds, HoldsReads: append([]string{"eks:ListNodegroups", "eks:ListFargateProfiles"}, leftoverReads...),
		// EKS deletes no cluster that it is updating, so a look precedes the delete.
		Delete: []kind.Ending[ClusterState]{
			{When: func(want, have ClusterState) bool {
				return aws.ToBool(have.DeletionProtection) && kind.IsFalse(want.DeletionProtection)
			}, Call: kind.Call[ClusterState]{Action: updates, Do: kind.Send(c.api.UpdateClusterConfig, func(want, _ ClusterState) *eks.UpdateClusterConfigInput {
				return &eks.UpdateClusterConfigInput{Name: &want.Name, DeletionProtection: aws.Bool(false)}
			})}},
			{Call: kind.Call[ClusterState]{Action: "eks:DeleteCluster", Effect: kind.Deletes, Do: kind.Send(c.api.DeleteCluster, func(want, _ ClusterState) *eks.DeleteClusterInput {
				return &eks.DeleteClusterInput{Name: &want.Name}
			})}},
		},
	})
}

const updates = "eks:UpdateClusterConfig"

// parts are sent one after the other: EKS makes one update of a cluster at a time, of one type.
// https://docs.aws.amazon.com/eks/latest/APIReference/API_UpdateClusterConfig.html
func (c *cluster) parts() []kind.Part[ClusterState] {
	var out []kind.Part[ClusterState]
	add := func(write kind.Call[ClusterState], fields ...string) {
		stage := len(out) + 1
		out = append(out, kind.Part[ClusterState]{Fields: fields, InCreate: true, LookAfter: true, Stage: func(ClusterState, ClusterState) int { return stage }, Write: write})
	}
	config := func(set func(in *eks.UpdateClusterConfigInput, want, have ClusterState, diff kind.Diff), fields ...string) {
		add(kind.Call[ClusterState]{Action: updates, DoDiff: kind.SendDiff(c.api.UpdateClusterConfig, func(want, have ClusterState, diff kind.Diff) *eks.UpdateClusterConfigInput {
			in := &eks.UpdateClusterConfigInput{Name: &want.Name}
			set(in, want, have, diff)
			return in
		})}, fields...)
	}
	config(func(in *eks.UpdateClusterConfigInput, want, _ ClusterState, diff kind.Diff) {
		in.ResourcesVpcConfig = network(kind.OnlyChanged(want, []string{"PublicAccess", "PrivateAccess", "CIDRs"}, diff))
	}, "PublicAccess", "PrivateAccess", "CIDRs")
	config(func(in *eks.UpdateClusterConfigInput, want, _ ClusterState, _ kind.Diff) {
		in.ResourcesVpcConfig = &types.VpcConfigRequest{SubnetIds: want.Subnets}
	}, "Subnets")
	config(func(in *eks.UpdateClusterConfigInput, want, _ ClusterState, _ kind.Diff) {
		in.ResourcesVpcConfig = &types.VpcConfigRequest{SecurityGroupIds: want.Groups}
	}, "Groups")
	config(func(in *eks.UpdateClusterConfigInput, want, _ ClusterState, _ kind.Diff) { in.Logging = logging(want) }, "Logs")
	config(func(in *eks.UpdateClusterConfigInput, want, have ClusterState, _ kind.Diff) {
		in.AccessConfig = &types.UpdateAccessConfigRequest{AuthenticationMode: modes[min(modeOf(have)+1, modeOf(want))]}
	}, "AuthenticationMode")
	config(func(in *eks.UpdateClusterConfigInput, want, _ ClusterState, _ kind.Diff) {
		in.UpgradePolicy = upgradePolicy(want)
	}, "SupportType")
	config(func(in *eks.UpdateClusterConfigInput, want, _ ClusterState, _ kind.Diff) {
		in.DeletionProtection = want.DeletionProtection
	}, "DeletionProtection")
	mode := &out[slices.IndexFunc(out, func(p kind.Part[ClusterState]) bool { return p.Fields[0] == "AuthenticationMode" })]
	usual := mode.Stage
	mode.Stage = func(want, have ClusterState) int {
		if aws.ToString(have.AuthenticationMode) == string(types.AuthenticationModeApiAndConfigMap) {
			return afterAccess
		}
		return usual(want, have)
	}
	mode.Again = func(want, have ClusterState) int { return modeOf(want) - modeOf(have) - 1 }
	add(kind.Call[ClusterState]{Action: "eks:UpdateClusterVersion", Do: kind.Send(c.api.UpdateClusterVersion, func(want, have ClusterState) *eks.UpdateClusterVersionInput {
		return &eks.UpdateClusterVersionInput{Name: &want.Name, Version: aws.String(nextVersion(have, want))}
	})}, "Version")
	out[len(out)-1].Again = func(want, have ClusterState) int { return minorOf(want) - minorOf(have) - 1 }
	return out
}

// nextVersion is the wanted version, or the minor version after the present one where that comes first: EKS skips none.
func nextVersion(have, want ClusterState) string {
	return fmt.Sprintf("1.%d", min(minorOf(have)+1, minorOf(want)))
}

func minorOf(s ClusterState) int {
	n, _ := strconv.Atoi((*s.Version)[strings.IndexByte(*s.Version, '.')+1:])
	return n
}

func modeOf(s ClusterState) int {
	return slices.Index(modes, types.AuthenticationMode(aws.ToString(s.AuthenticationMode)))
}

// whyNotAdopted refuses the cluster that the operator runs in, by its name or by the issuer of its tokens.
func whyNotAdopted(sc kind.Scope, want, have ClusterState) (string, error) {
	issuer := aws.ToString(kind.NonNil(kind.NonNil(have.Found.Identity).Oidc).Issuer)
	if want.Own || sc.Federation.Issuer != "" && issuer == sc.Federation.Issuer {
		return "the operator runs in this cluster, which no object adopts", nil
	}
	return "", nil
}

// rolesOf returns the roles of the control plane, of the nodes that EKS makes, and of a connected cluster.
func rolesOf(s ClusterState) []string {
	return kind.Present(s.Role, kind.NonNil(s.Found.ComputeConfig).NodeRoleArn, kind.NonNil(s.Found.ConnectorConfig).RoleArn)
}

func declareCluster(sc kind.Scope, cr *v1alpha1.EKSCluster, s *ClusterState) error {
	in := cr.Spec
	s.Role, s.Version = kind.NonEmpty(&in.RoleARN), in.Version
	if why := kind.WhyNotPassed(sc, in.RoleARN); why != "" {
		return &status.Stalled{Reason: status.ReasonNotPermitted, Field: "spec.roleARN", Message: why + ": name an IAMRole of this namespace in spec.roleRef"}
	}
	if in.Logging != nil {
		s.Logs = &in.Logging.ClusterLogging
	}
	if in.AccessConfig != nil {
		s.AuthenticationMode, s.CreatorIsAdmin = kind.NonEmpty(&in.AccessConfig.AuthenticationMode), in.AccessConfig.BootstrapClusterCreatorAdminPermissions
	}
	if in.UpgradePolicy != nil {
		s.SupportType = &in.UpgradePolicy.SupportType
	}
	declareAccess(sc, cr, s)
	if in.RoleRef != nil {
		target, err := sc.Ref("IAMRole", in.RoleRef.Name)
		if err != nil {
			return err
		}
		s.Role = &target.ARN
	}
	if in.Encryption != nil {
		s.Key = &in.Encryption.ProviderKeyARN
		if ref := in.Encryption.KMSKeyRef; ref != nil {
			target, err := sc.Ref("KMSKey", ref.Name)
			if err != nil {
				return err
			}
			s.Key = &target.ARN
		}
	}
	return declareNetwork(sc, in.VPCConfig, s)
}

func declareNetwork(sc kind.Scope, in *v1alpha1.EKSVPCConfig, s *ClusterState) (err error) {
	if in == nil {
		return nil
	}
	for i, block := range in.PublicAccessCidrs {
		p, err := netip.ParsePrefix(block)
		if err != nil || p != p.Masked() {
			return status.Invalid(fmt.Sprintf("spec.vpcConfig.publicAccessCidrs[%d]", i), "%s is no range of addresses: declare its first address and the length of the prefix, such as 203.0.113.0/24", block)
		}
		s.CIDRs = append(s.CIDRs, p.String()) // in the spelling of AWS
	}
	s.PublicAccess, s.PrivateAccess = in.EndpointPublicAccess, in.EndpointPrivateAccess
	if s.Subnets, err = kind.ReferredIDs(sc.Lookups, "Subnet", in.SubnetIDs, in.SubnetRefs); err != nil {
		return err
	}
	s.Groups, err = kind.ReferredIDs(sc.Lookups, "SecurityGroup", in.SecurityGroupIDs, in.SecurityGroupRefs)
	return err
}

func publishCluster(cr *v1alpha1.EKSCluster, s ClusterState) {
	st, found := &cr.Status, s.Found
	vpc, identity := kind.NonNil(found.ResourcesVpcConfig), kind.NonNil(found.Identity)
	st.ARN, st.ID, st.ClusterName, st.Status = s.ARN, s.Name, s.Name, string(found.Status)
	st.Version, st.PlatformVersion, st.Endpoint = aws.ToString(found.Version), aws.ToString(found.PlatformVersion), aws.ToString(found.Endpoint)
	st.CertificateAuthority, st.OIDCIssuer = aws.ToString(kind.NonNil(found.CertificateAuthority).Data), aws.ToString(kind.NonNil(identity.Oidc).Issuer)
	st.ManagedAccessEntries, st.ManagedAccessPolicies = kind.SortedKeys(s.Entries), kind.SortedKeys(s.Policies)
	st.ClusterSecurityGroupID, st.VPCID = aws.ToString(vpc.ClusterSecurityGroupId), aws.ToString(vpc.VpcId)
}

// create refuses to create a cluster that is only declared for adoption.
func (c *cluster) create(ctx context.Context, want, _ ClusterState) error {
	if want.Role == nil || want.Subnets == nil {
		return status.Invalid("spec", "there is no cluster %s to adopt; to create it, declare roleARN or roleRef, and the subnets in vpcConfig", want.Name)
	}
	in := &eks.CreateClusterInput{Name: &want.Name, RoleArn: want.Role, Version: want.Version, ResourcesVpcConfig: network(want), Logging: logging(want), UpgradePolicy: upgradePolicy(want), DeletionProtection: want.DeletionProtection, Tags: want.Tags}
	// The default of EKS lets no one but the operator's identity use the cluster, and lets no one change that.
	mode := cmp.Or(types.AuthenticationMode(aws.ToString(want.AuthenticationMode)), types.AuthenticationModeApiAndConfigMap)
	in.AccessConfig = &types.CreateAccessConfigRequest{AuthenticationMode: mode, BootstrapClusterCreatorAdminPermissions: want.CreatorIsAdmin}
	if want.Key != nil {
		in.EncryptionConfig = []types.EncryptionConfig{{Provider: &types.Provider{KeyArn: want.Key}, Resources: []string{"secrets"}}}
	}
	_, err := c.api.CreateCluster(ctx, in)
	return err
}

func network(s ClusterState) *types.VpcConfigRequest {
	return &types.VpcConfigRequest{SubnetIds: s.Subnets, SecurityGroupIds: s.Groups, EndpointPublicAccess: s.PublicAccess, EndpointPrivateAccess: s.PrivateAccess, PublicAccessCidrs: s.CIDRs}
}

// logging turns each type of logs on or off: EKS keeps those that a request does not name.
func logging(s ClusterState) *types.Logging {
	if s.Logs == nil {
		return nil
	}
	on, off := types.LogSetup{Enabled: aws.Bool(true)}, types.LogSetup{Enabled: aws.Bool(false)}
	for _, t := range types.LogType("").Values() {
		to := kind.Either(slices.Contains(*s.Logs, string(t)), &on, &off)
		to.Types = append(to.Types, t)
	}
	return &types.Logging{ClusterLogging: slices.DeleteFunc([]types.LogSetup{on, off}, func(l types.LogSetup) bool { return len(l.Types) == 0 })}
}

func upgradePolicy(s ClusterState) *types.UpgradePolicyRequest {
	if s.SupportType == nil {
		return nil
	}
	return &types.UpgradePolicyRequest{SupportType: types.SupportType(*s.SupportType)}
}

// refuseCluster refuses changes that EKS cannot make. A version that is later than declared is no difference.
func refuseCluster(want, have ClusterState, diff kind.Diff) error {
	if diff.Under("AuthenticationMode") && modeOf(want) < modeOf(have) {
		return &status.Stalled{Reason: status.ReasonImmutable, Field: "spec.accessConfig.authenticationMode", Message: fmt.Sprintf(
			"EKS cannot return from %s to %s: declare the mode that exists", *have.AuthenticationMode, *want.AuthenticationMode)}
	}
	return nil
}

func (c *cluster) describe(ctx context.Context, want ClusterState, look kind.Look) (kind.Seen[ClusterState], error) {
	out, err := awsclient.Lookup(ctx, c.api.DescribeCluster, &eks.DescribeClusterInput{Name: &want.Name})
	if out == nil || out.Cluster == nil {
		return kind.Seen[ClusterState]{}, err
	}
	d := *out.Cluster
	seen := kind.Seen[ClusterState]{Exists: true, Tags: d.Tags, Created: aws.ToTime(d.CreatedAt), State: clusterOf(want, d)}
	switch {
	case d.Status == types.ClusterStatusFailed && !look.Deleting:
		return kind.Seen[ClusterState]{}, &status.Stalled{Reason: status.ReasonRefusedByAWS, Message: fmt.Sprintf(
			"cluster %s is FAILED%s: correct the cause, and delete the cluster in AWS; set recreateOnLoss: true to create it again", want.Name, issues(d))}
	case d.Status != types.ClusterStatusActive && d.Status != types.ClusterStatusFailed:
		seen.Busy, seen.Usable = "the cluster is "+string(d.Status), d.Status == types.ClusterStatusUpdating
	case !look.Deleting:
		if seen.Notes, err = c.notes(ctx, want, seen.State); err != nil {
			return kind.Seen[ClusterState]{}, err
		}
	}
	if modeOf(seen.State) > 0 {
		seen.Omitted = []string{"spec.accessEntries: the access entries of the cluster stay as they are"}
	}
	return seen, nil
}

// notes returns the notes about an active cluster: its version, and its last update.
func (c *cluster) notes(ctx context.Context, want, have ClusterState) (out []kind.Note, err error) {
	if has := aws.ToString(have.Found.Version); want.Version != nil && aws.ToString(have.Version) == *want.Version {
		out = append(out, awsclient.VersionNote(*want.Version == has, *want.Version, has, "the operator downgrades no cluster"))
	}
	note, err := c.lastUpdate(ctx, want, have)
	return append(out, note), err
}

// issues lists the health issues of a cluster.
func issues(d types.Cluster) string {
	var all strings.Builder
	for _, issue := range kind.NonNil(d.Health).Issues {
		fmt.Fprintf(&all, ": %s: %s", issue.Code, aws.ToString(issue.Message))
	}
	return all.String()
}

func clusterOf(want ClusterState, d types.Cluster) ClusterState {
	vpc := kind.NonNil(d.ResourcesVpcConfig)
	s := ClusterState{Name: want.Name, ARN: aws.ToString(d.Arn), Found: d, Role: d.RoleArn, Key: aws.String(""), PublicAccess: &vpc.EndpointPublicAccess, PrivateAccess: &vpc.EndpointPrivateAccess,
		CIDRs: vpc.PublicAccessCidrs, Subnets: vpc.SubnetIds, Groups: vpc.SecurityGroupIds, Logs: &[]string{}, DeletionProtection: aws.Bool(aws.ToBool(d.DeletionProtection)), Version: d.Version}
	if mode := kind.NonNil(d.AccessConfig).AuthenticationMode; mode != "" {
		s.AuthenticationMode = aws.String(string(mode))
	}
	if support := kind.NonNil(d.UpgradePolicy).SupportType; support != "" {
		s.SupportType = aws.String(string(support))
	}
	for _, e := range d.EncryptionConfig {
		s.Key = kind.NonNil(e.Provider).KeyArn
	}
	for _, l := range kind.NonNil(d.Logging).ClusterLogging {
		for _, t := range l.Types {
			if aws.ToBool(l.Enabled) {
				*s.Logs = append(*s.Logs, string(t))
			}
		}
	}
	if want.Version != nil && kind.CompareVersions(aws.ToString(d.Version), *want.Version) > 0 {
		s.Version = want.Version
	}
	return s
}

// keepCluster ends the message of each hold.
const keepCluster = ", or set deletionPolicy: Retain to keep the cluster"

// holds keeps a cluster that is used: EKS would refuse to delete one with node groups or Fargate profiles.
func (c *cluster) holds(ctx context.Context, want ClusterState, seen *kind.Seen[ClusterState]) error {
	hold := func(reason, message string) {
		seen.Holds = append(seen.Holds, kind.Hold{Reason: reason, Message: message + keepCluster})
	}
	switch {
	case seen.Busy != "": // it is being deleted, or cannot be yet
		return nil
	case want.Own:
		hold(status.ReasonInUse, "the operator to leave the cluster, which it runs in: delete the cluster without the operator")
		return nil
	case aws.ToBool(seen.State.DeletionProtection) && !kind.IsFalse(want.DeletionProtection):
		hold(status.ReasonDeletionProtected, "the deletion protection of the cluster to be removed: set deletionProtection: false to delete it")
		return nil
	}
	groups := &eks.ListNodegroupsInput{ClusterName: &want.Name}
	nodes, err := kind.Pages(ctx, c.api.ListNodegroups, groups, &groups.NextToken, func(out *eks.ListNodegroupsOutput) ([]string, *string) { return out.Nodegroups, out.NextToken })
	if err != nil {
		return unlessGone(err)
	}
	profiles := &eks.ListFargateProfilesInput{ClusterName: &want.Name}
	fargate, err := kind.Pages(ctx, c.api.ListFargateProfiles, profiles, &profiles.NextToken, func(out *eks.ListFargateProfilesOutput) ([]string, *string) {
		return out.FargateProfileNames, out.NextToken
	})
	if err = unlessGone(err); err != nil {
		return err
	}
	if len(nodes)+len(fargate) > 0 {
		hold(status.ReasonInUse, fmt.Sprintf("the cluster to be unused: it has %d node groups and %d Fargate profiles (%s); delete them", len(nodes), len(fargate), named(slices.Concat(nodes, fargate))))
	}
	left, err := c.leftovers(ctx, want.Name)
	seen.Holds = append(seen.Holds, left...)
	return err
}

// unlessGone drops the error about a cluster that was deleted after it was described.
func unlessGone(err error) error {
	if awsclient.IsNotFound(err) {
		return nil
	}
	return err
}

// named lists the first names of many.
func named(all []string) string {
	if len(all) > 5 {
		return strings.Join(all[:5], ", ") + " and others"
	}
	return strings.Join(all, ", ")
}
