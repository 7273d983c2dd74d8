package iam

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"
	"golang.org/x/sync/errgroup"

	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Observe reads the role, whose answer has the tags and all single parts, and then the policies: those
// that we declare or wrote, by name; all of them only where somebody must know of all.
func (r *role) Observe(ctx context.Context, want RoleState) (kind.Seen[RoleState], error) {
	absent := kind.Seen[RoleState]{}
	out, err := r.api.GetRole(ctx, &iam.GetRoleInput{RoleName: &want.Name})
	if awsclient.IsNotFound(err) || err == nil && out.Role == nil {
		return absent, nil
	}
	if err != nil {
		return absent, err
	}
	s, err := fromRole(out.Role)
	if err != nil {
		return absent, err
	}
	s.Name, s.Inline, s.Attached = want.Name, map[string]*string{}, map[string]*bool{}
	seen := kind.Seen[RoleState]{Exists: true, Tags: s.Tags, Created: aws.ToTime(out.Role.CreateDate)}
	if err := r.policies(ctx, want, &s); err != nil {
		return absent, err
	}
	if want.Deleting {
		if seen.Holds, err = r.holds(ctx, want, s); err != nil {
			return absent, err
		}
	}
	seen.State = s
	return seen, nil
}

func fromRole(in *types.Role) (RoleState, error) {
	s := RoleState{ARN: aws.ToString(in.Arn), ID: aws.ToString(in.RoleId), Path: in.Path, Description: in.Description, MaxSession: in.MaxSessionDuration}
	trust, err := decoded(in.AssumeRolePolicyDocument)
	s.Trust = trust
	if b := in.PermissionsBoundary; b != nil {
		s.Boundary = b.PermissionsBoundaryArn
	}
	s.Tags = make(map[string]string, len(in.Tags))
	for _, t := range in.Tags {
		s.Tags[aws.ToString(t.Key)] = aws.ToString(t.Value)
	}
	return s, err
}

// decoded undoes IAM's URL encoding of documents, in which a plus is a plus (RFC 3986).
func decoded(doc *string) (*string, error) {
	if doc == nil {
		return nil, nil
	}
	s, err := url.PathUnescape(*doc)
	if err != nil {
		return nil, fmt.Errorf("decoding a policy document of IAM: %w", err)
	}
	return &s, nil
}

func (r *role) policies(ctx context.Context, want RoleState, s *RoleState) error {
	all := want.Exclusive || want.Deleting
	group := errgroup.Group{}
	names := []string(nil)
	group.Go(func() (err error) {
		if all {
			names, err = r.inlineNames(ctx, want.Name)
		}
		return err
	})
	group.Go(func() error {
		if all || want.Attached != nil {
			return r.attached(ctx, want.Name, s)
		}
		return nil
	})
	if err := group.Wait(); err != nil {
		return err
	}
	if want.Deleting { // their names are enough
		for _, name := range names {
			s.Inline[name] = new(string)
		}
		return nil
	}
	if want.Exclusive {
		s.Undeclared = undeclared(want, names, s.Attached)
	}
	return r.inline(ctx, want, s)
}

// undeclared are the policies that are neither declared nor recorded as ours.
func undeclared(want RoleState, names []string, attached map[string]*bool) *[]string {
	out := []string{}
	for _, name := range names {
		if _, ok := want.Inline[name]; !ok {
			out = append(out, name)
		}
	}
	for _, arn := range kind.SortedKeys(attached) {
		if _, ok := want.Attached[arn]; !ok {
			out = append(out, arn)
		}
	}
	return &out
}

// inline reads the documents we declare or wrote, all at once.
func (r *role) inline(ctx context.Context, want RoleState, s *RoleState) error {
	group := errgroup.Group{}
	group.SetLimit(4)
	names := kind.SortedKeys(want.Inline)
	docs := make([]*string, len(names))
	for i, name := range names {
		group.Go(func() error {
			out, err := r.api.GetRolePolicy(ctx, &iam.GetRolePolicyInput{RoleName: &want.Name, PolicyName: &name})
			if err == nil {
				docs[i], err = decoded(out.PolicyDocument)
			}
			return ifFound(err)
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for i, name := range names {
		if docs[i] != nil {
			s.Inline[name] = docs[i]
		}
	}
	return nil
}

func (r *role) inlineNames(ctx context.Context, role string) ([]string, error) {
	var names []string
	pages := iam.NewListRolePoliciesPaginator(r.api, &iam.ListRolePoliciesInput{RoleName: &role})
	for pages.HasMorePages() {
		out, err := pages.NextPage(ctx)
		if err != nil {
			return nil, ifFound(err)
		}
		names = append(names, out.PolicyNames...)
	}
	return names, nil
}

func (r *role) attached(ctx context.Context, role string, s *RoleState) error {
	pages := iam.NewListAttachedRolePoliciesPaginator(r.api, &iam.ListAttachedRolePoliciesInput{RoleName: &role})
	for pages.HasMorePages() {
		out, err := pages.NextPage(ctx)
		if err != nil {
			return ifFound(err)
		}
		for _, p := range out.AttachedPolicies {
			s.Attached[aws.ToString(p.PolicyArn)] = aws.Bool(true)
		}
	}
	return nil
}

// holds are what others tied to the role: IAM refuses to delete a role that an instance profile uses or
// that has policies, and policies that somebody else put there are not ours to take off unasked.
func (r *role) holds(ctx context.Context, want, have RoleState) ([]kind.Hold, error) {
	var why []string
	if foreign := *undeclared(want, kind.SortedKeys(have.Inline), have.Attached); len(foreign) > 0 && !want.Exclusive {
		why = append(why, "policies that others put there to be taken off it ("+few(foreign)+"; exclusivePolicies: true has them taken off)")
	}
	var profiles []string
	pages := iam.NewListInstanceProfilesForRolePaginator(r.api, &iam.ListInstanceProfilesForRoleInput{RoleName: &want.Name})
	for pages.HasMorePages() {
		out, err := pages.NextPage(ctx)
		if err != nil {
			return nil, ifFound(err)
		}
		for _, p := range out.InstanceProfiles {
			profiles = append(profiles, aws.ToString(p.InstanceProfileName))
		}
	}
	if len(profiles) > 0 {
		why = append(why, "instance profiles to give it up ("+few(profiles)+")")
	}
	if len(why) == 0 {
		return nil, nil
	}
	return []kind.Hold{{Reason: status.ReasonInUse, Message: strings.Join(why, " and ") + "; deletionPolicy: Retain keeps the role"}}, nil
}

// few names the first of a list.
func few(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// ifFound drops the error that says that a part is not there.
func ifFound(err error) error {
	if awsclient.IsNotFound(err) {
		return nil
	}
	return err
}
