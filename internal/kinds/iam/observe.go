// SPDX-License-Identifier: Apache-2.0

package iam

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Values of RoleState.Undeclared, shown in drift reports.
const (
	undeclaredInline   = "inline policy"
	undeclaredAttached = "attached policy"
)

// describe reads the role with its tags and all settings, and then its policies.
func (r *role) describe(ctx context.Context, want RoleState, look kind.Look) (kind.Seen[RoleState], error) {
	absent := kind.Seen[RoleState]{}
	out, err := awsclient.Lookup(ctx, r.api.GetRole, &iam.GetRoleInput{RoleName: &want.Name})
	if out == nil || out.Role == nil {
		return absent, err
	}
	have, err := fromRole(want.Name, out.Role)
	if err != nil {
		return absent, err
	}
	if err := cmp.Or(r.readPolicies(ctx, want, look, &have), r.readProfiles(ctx, want, look, &have)); err != nil {
		return absent, err
	}
	seen := kind.Seen[RoleState]{Exists: true, State: have, Created: aws.ToTime(out.Role.CreateDate),
		Tags: keyedAs(want.Tags, kind.TagMap(out.Role.Tags))}
	if len(have.FoundProfiles) > 1 {
		seen.Omitted = append(seen.Omitted, "the instance profiles of the role ("+joinNames(have.FoundProfiles)+"): an IAMRole declares one")
	}
	if want.OIDC != nil {
		seen.Notes = []kind.Note{*want.OIDC}
	}
	return seen, nil
}

// keyedAs returns the tags of a role by the keys of the wanted ones, where they differ in case only: IAM takes them for the same, so that
// a tag of another case is replaced by the one that is wanted, and must not be removed after it.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/id_tags.html
func keyedAs(want, have map[string]string) map[string]string {
	out := maps.Clone(have)
	for key := range want {
		for other, value := range have {
			if _, exact := have[key]; !exact && strings.EqualFold(other, key) {
				delete(out, other)
				out[key] = value
			}
		}
	}
	return out
}

func fromRole(name string, in *types.Role) (RoleState, error) {
	trust, err := decodeDocument(in.AssumeRolePolicyDocument)
	s := RoleState{
		Name: name, ARN: aws.ToString(in.Arn), ID: aws.ToString(in.RoleId), Path: in.Path, Trust: trust, Description: in.Description,
		MaxSession: in.MaxSessionDuration, Boundary: kind.NonNil(in.PermissionsBoundary).PermissionsBoundaryArn, Inline: map[string]*string{}, Attached: map[string]*bool{}, Undeclared: map[string]string{},
	}
	return s, err
}

// decodeDocument undoes IAM's URL encoding of documents, with a plus for a plus (RFC 3986).
func decodeDocument(doc *string) (*string, error) {
	if doc == nil {
		return nil, nil
	}
	s, err := url.PathUnescape(*doc)
	if err != nil {
		return nil, fmt.Errorf("decoding a policy document of IAM: %w", err)
	}
	return &s, nil
}

// readPolicies reads the policies that are declared or recorded, by name. It lists all of them for
// exclusive roles, and while deleting, when their names are enough.
func (r *role) readPolicies(ctx context.Context, want RoleState, look kind.Look, have *RoleState) error {
	all := want.Undeclared != nil || look.Deleting
	var names, arns []string
	var group kind.Group
	if all {
		group.Go(func() (err error) { names, err = r.listInline(ctx, want.Name); return err })
	}
	if all || len(want.Attached) > 0 {
		group.Go(func() (err error) { arns, err = r.listAttached(ctx, want.Name); return err })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	sortPolicies(want, names, arns, all, have)
	if look.Deleting {
		return nil
	}
	return r.readInline(ctx, want, all, have)
}

// sortPolicies divides the listed policies into those that are wanted or recorded and the others.
func sortPolicies(want RoleState, names, arns []string, all bool, have *RoleState) {
	for _, arn := range arns {
		if _, ok := want.Attached[arn]; ok {
			have.Attached[arn] = aws.Bool(true)
		} else if all {
			have.Undeclared[arn] = undeclaredAttached
		}
	}
	for _, name := range names {
		if _, ok := want.Inline[name]; ok {
			have.Inline[name] = new(string)
		} else {
			have.Undeclared[name] = undeclaredInline
		}
	}
}

// readInline reads the documents of the wanted inline policies, those that were listed where all were.
func (r *role) readInline(ctx context.Context, want RoleState, listed bool, have *RoleState) error {
	names := kind.SortedKeys(want.Inline)
	if listed {
		names = kind.SortedKeys(have.Inline)
	}
	docs := make([]*string, len(names))
	var group kind.Group
	group.SetLimit(4)
	for i, name := range names {
		group.Go(func() error {
			out, err := r.api.GetRolePolicy(ctx, &iam.GetRolePolicyInput{RoleName: &want.Name, PolicyName: &name})
			if err == nil {
				docs[i], err = decodeDocument(out.PolicyDocument)
			}
			return ifFound(explainRoleHidden(err))
		})
	}
	err := group.Wait()
	for i, name := range names {
		if docs[i] == nil {
			delete(have.Inline, name)
		} else {
			have.Inline[name] = docs[i]
		}
	}
	return err
}

func (r *role) listInline(ctx context.Context, role string) ([]string, error) {
	in := &iam.ListRolePoliciesInput{RoleName: &role}
	names, err := kind.Pages(ctx, r.api.ListRolePolicies, in, &in.Marker, func(out *iam.ListRolePoliciesOutput) ([]string, *string) { return out.PolicyNames, out.Marker })
	return names, explainHidden(err)
}

func (r *role) listAttached(ctx context.Context, role string) ([]string, error) {
	in := &iam.ListAttachedRolePoliciesInput{RoleName: &role}
	attached, err := kind.Pages(ctx, r.api.ListAttachedRolePolicies, in, &in.Marker, func(out *iam.ListAttachedRolePoliciesOutput) ([]types.AttachedPolicy, *string) {
		return out.AttachedPolicies, out.Marker
	})
	arns := make([]string, len(attached))
	for i, p := range attached {
		arns[i] = aws.ToString(p.PolicyArn)
	}
	return arns, explainHidden(err)
}

// holds reports the policies and profiles that others tied to the role. IAM refuses to delete a role that has policies or that an instance
// profile uses, and the operator removes policies of others only from an exclusive role, and no profiles of others.
func (r *role) holds(ctx context.Context, want RoleState, seen *kind.Seen[RoleState]) error {
	var why []string
	if others := kind.SortedKeys(seen.State.Undeclared); len(others) > 0 && !want.Exclusive {
		why = append(why, "the policies that others added to the role to be removed ("+joinNames(others)+"; set exclusivePolicies: true to have them removed)")
	}
	names, err := r.listProfiles(ctx, want.Name)
	if err != nil {
		return err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return seen.State.Profiles[name] != nil })
	if len(names) > 0 {
		why = append(why, "the role to be removed from instance profiles ("+joinNames(names)+")")
	}
	if len(why) > 0 {
		seen.Holds = []kind.Hold{{Reason: status.ReasonInUse, Message: strings.Join(why, " and ") + "; set deletionPolicy: Retain to keep the role"}}
	}
	return nil
}

// joinNames lists the first names and counts the others.
func joinNames(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// explainHidden turns "not found" for a role that was just read into waiting: some of IAM's replicas do not
// show it yet. Its policies must not be taken for absent, or their record would be dropped.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot_general.html#troubleshoot_general_eventual-consistency
func explainHidden(err error) error {
	if awsclient.IsNotFound(err) {
		return &status.Waiting{Reason: status.ReasonProgressing, For: "IAM to show the role to every read", After: 2 * time.Second, Usable: true}
	}
	return err
}

// explainRoleHidden is explainHidden for calls that name a policy too, and only where the role is not found.
func explainRoleHidden(err error) error {
	if err != nil && strings.Contains(err.Error(), "role with name") {
		return explainHidden(err)
	}
	return err
}

// ifFound drops the error that says that a part does not exist.
func ifFound(err error) error {
	if awsclient.IsNotFound(err) {
		return nil
	}
	return err
}
