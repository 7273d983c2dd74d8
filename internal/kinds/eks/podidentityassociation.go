// SPDX-License-Identifier: Apache-2.0

// Package eks is the EKS kinds.
package eks

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// AssociationState is an association as both the spec and EKS can express it.
type AssociationState struct {
	Cluster, Namespace, ServiceAccount string `drift:"identity"`
	// ID is the recorded identifier, or the one that EKS shows.
	ID  string `drift:"id"`
	ARN string `drift:"id"`

	Role *string
	// TargetRole is one that EKS assumes with Role.
	TargetRole         *string
	Policy             *string `drift:"json"`
	DisableSessionTags *bool
	Tags               map[string]string `drift:"tags"`
}

type association struct{ api *eks.Client }

// NewPodIdentityAssociation binds the PodIdentityAssociation kind to an identity. Its IAM actions:
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonelastickubernetesservice.html
func NewPodIdentityAssociation(cfg aws.Config) kind.Kind[*v1alpha1.PodIdentityAssociation, AssociationState] {
	a := &association{api: eks.NewFromConfig(cfg)}
	return kind.FromTable(kind.Table[*v1alpha1.PodIdentityAssociation, AssociationState]{
		// EKS allows one association for a ServiceAccount, so that the three names find it.
		Meta:     kind.Meta{Facts: podIdentityAssociationFacts(), Identity: kind.ByName, CreatesFirst: true, References: []string{"IAMRole"}},
		Identify: identify, Declare: declare, Publish: publish, Refuse: refuseAssociation,
		Roles:    kind.Roles[AssociationState]{Of: func(s AssociationState) []string { return kind.Present(s.Role, s.TargetRole) }},
		Export:   kind.Export[*v1alpha1.PodIdentityAssociation, AssociationState]{Identity: []string{"clusterName", "namespace", "serviceAccount"}, Spec: exported},
		Describe: kind.Read[AssociationState]{Actions: []string{"eks:ListPodIdentityAssociations", "eks:DescribePodIdentityAssociation"}, Do: a.describe},
		Create:   kind.Call[AssociationState]{Action: "eks:CreatePodIdentityAssociation", Do: a.create},
		Tagging: kind.Tagging[AssociationState]{
			Sets: "eks:TagResource", Set: kind.Send(a.api.TagResource, func(have AssociationState, tags map[string]string) *eks.TagResourceInput {
				return &eks.TagResourceInput{ResourceArn: &have.ARN, Tags: tags}
			}),
			Removes: "eks:UntagResource", Remove: kind.Send(a.api.UntagResource, func(have AssociationState, keys []string) *eks.UntagResourceInput {
				return &eks.UntagResourceInput{ResourceArn: &have.ARN, TagKeys: keys}
			}),
		},
		Parts: []kind.Part[AssociationState]{{Fields: []string{"Role", "TargetRole", "Policy", "DisableSessionTags"}, InCreate: true,
			Write: kind.Call[AssociationState]{Action: "eks:UpdatePodIdentityAssociation", DoDiff: kind.SendDiff(a.api.UpdatePodIdentityAssociation, update)}}},
		Delete: []kind.Ending[AssociationState]{{Call: kind.Call[AssociationState]{Action: "eks:DeletePodIdentityAssociation", Effect: kind.Ends,
			Do: kind.Send(a.api.DeletePodIdentityAssociation, func(want, have AssociationState) *eks.DeletePodIdentityAssociationInput {
				return &eks.DeletePodIdentityAssociationInput{ClusterName: &want.Cluster, AssociationId: &have.ID}
			})}}},
	})
}

func identify(sc kind.Scope, cr *v1alpha1.PodIdentityAssociation) (AssociationState, error) {
	in := cr.Spec
	return AssociationState{Cluster: in.ClusterName, Namespace: in.Namespace, ServiceAccount: in.ServiceAccount, ID: sc.ID}, nil
}

func declare(sc kind.Scope, cr *v1alpha1.PodIdentityAssociation, want *AssociationState) error {
	in := cr.Spec
	if field, why := kind.WhyNotForPods(sc, in.ClusterName, in.Namespace); why != "" {
		return &status.Stalled{Reason: status.ReasonNotPermitted, Field: "spec." + field, Message: why}
	}
	if why := kind.WhyNotPassed(sc, in.RoleARN); why != "" {
		return &status.Stalled{Reason: status.ReasonNotPermitted, Field: "spec.roleARN", Message: why + ": name an IAMRole of this namespace in spec.roleRef"}
	}
	want.Role, want.DisableSessionTags = &in.RoleARN, in.DisableSessionTags
	if in.TargetRoleARN != "" {
		want.TargetRole = &in.TargetRoleARN
	}
	if in.Policy != "" {
		if _, err := iampolicy.ParseOfUser(in.Policy); err != nil {
			return status.Invalid("spec.policy", "%v", err)
		}
		want.Policy = &in.Policy
	}
	if in.RoleRef != nil {
		target, err := sc.Ref("IAMRole", in.RoleRef.Name)
		if err != nil {
			return err
		}
		want.Role = &target.ARN
	}
	return nil
}

// refuseAssociation refuses changes that EKS cannot make: an association that keeps a session policy, which is not declared, has no session
// tags.
// https://docs.aws.amazon.com/eks/latest/APIReference/API_UpdatePodIdentityAssociation.html
func refuseAssociation(want, have AssociationState, diff kind.Diff) error {
	if diff.Under("DisableSessionTags") && want.Policy == nil && have.Policy != nil && !aws.ToBool(want.DisableSessionTags) {
		return &status.Stalled{Reason: status.ReasonImmutable, Field: "spec.disableSessionTags", Message: "the association keeps a session policy, with which EKS adds no session tags: " +
			"leave disableSessionTags out, or declare the policy and true; an object that is deleted and created again has neither"}
	}
	return nil
}

func publish(cr *v1alpha1.PodIdentityAssociation, s AssociationState) {
	st := &cr.Status
	st.ID, st.ARN, st.AssociationID, st.RoleARN = s.ID, s.ARN, s.ID, aws.ToString(s.Role)
}

// exported declares an association as it is.
func exported(cr *v1alpha1.PodIdentityAssociation, have AssociationState) {
	cr.Spec.RoleARN = aws.ToString(have.Role)
	cr.Spec.TargetRoleARN, cr.Spec.Policy = aws.ToString(have.TargetRole), aws.ToString(have.Policy)
	if aws.ToBool(have.DisableSessionTags) {
		cr.Spec.DisableSessionTags = have.DisableSessionTags
	}
}

// describe reads the association with the recorded identifier, and searches by the names where EKS does not know it: an
// administrator may have made another one.
func (a *association) describe(ctx context.Context, want AssociationState, _ kind.Look) (kind.Seen[AssociationState], error) {
	found, err := a.byID(ctx, want, want.ID)
	if err == nil && found == nil {
		found, err = a.byNames(ctx, want)
	}
	if err != nil || found == nil {
		return kind.Seen[AssociationState]{}, err
	}
	return kind.Seen[AssociationState]{Exists: true, Tags: found.Tags, Created: aws.ToTime(found.CreatedAt), State: AssociationState{
		Cluster: want.Cluster, Namespace: want.Namespace, ServiceAccount: want.ServiceAccount,
		ID: aws.ToString(found.AssociationId), ARN: aws.ToString(found.AssociationArn), Role: found.RoleArn, TargetRole: found.TargetRoleArn, Policy: found.Policy, DisableSessionTags: aws.Bool(aws.ToBool(found.DisableSessionTags)),
	}}, nil
}

func (a *association) byID(ctx context.Context, want AssociationState, id string) (*types.PodIdentityAssociation, error) {
	if id == "" {
		return nil, nil
	}
	out, err := awsclient.Lookup(ctx, a.api.DescribePodIdentityAssociation, &eks.DescribePodIdentityAssociationInput{ClusterName: &want.Cluster, AssociationId: &id})
	if out == nil {
		return nil, err
	}
	return out.Association, nil
}

// byNames finds nothing where the cluster does not exist: its associations ended with it.
func (a *association) byNames(ctx context.Context, want AssociationState) (*types.PodIdentityAssociation, error) {
	in := &eks.ListPodIdentityAssociationsInput{ClusterName: &want.Cluster, Namespace: &want.Namespace, ServiceAccount: &want.ServiceAccount}
	listed, err := kind.Pages(ctx, a.api.ListPodIdentityAssociations, in, &in.NextToken, func(out *eks.ListPodIdentityAssociationsOutput) ([]types.PodIdentityAssociationSummary, *string) {
		return out.Associations, out.NextToken
	})
	if awsclient.IsNotFound(err) {
		return nil, nil
	}
	for _, l := range listed {
		if aws.ToString(l.Namespace) == want.Namespace && aws.ToString(l.ServiceAccount) == want.ServiceAccount {
			return a.byID(ctx, want, aws.ToString(l.AssociationId))
		}
	}
	return nil, err
}

func (a *association) create(ctx context.Context, want, _ AssociationState) error {
	_, err := a.api.CreatePodIdentityAssociation(ctx, &eks.CreatePodIdentityAssociationInput{ClusterName: &want.Cluster, Namespace: &want.Namespace,
		ServiceAccount: &want.ServiceAccount, RoleArn: want.Role, TargetRoleArn: want.TargetRole, Policy: want.Policy, DisableSessionTags: want.DisableSessionTags, Tags: want.Tags})
	if awsclient.IsNotFound(err) {
		return &status.Stalled{Reason: status.ReasonInvalidSpec, Field: "spec.clusterName", Cause: err, Message: "the account and region of the provider have no EKS cluster " + want.Cluster +
			": name a provider of the cluster's account and region"}
	}
	return err
}

// update names only the members that differ: EKS keeps absent members.
func update(want, have AssociationState, diff kind.Diff) *eks.UpdatePodIdentityAssociationInput {
	in := &eks.UpdatePodIdentityAssociationInput{ClusterName: &want.Cluster, AssociationId: &have.ID}
	kind.SetChanged(diff, "Role", &in.RoleArn, want.Role)
	kind.SetChanged(diff, "TargetRole", &in.TargetRoleArn, want.TargetRole)
	kind.SetChanged(diff, "Policy", &in.Policy, want.Policy)
	kind.SetChanged(diff, "DisableSessionTags", &in.DisableSessionTags, want.DisableSessionTags)
	return in
}
