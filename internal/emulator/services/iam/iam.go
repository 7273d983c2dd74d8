// SPDX-License-Identifier: Apache-2.0

// Package iam holds the emulator's facts and corrections for AWS IAM.
package iam

import (
	"cmp"
	"context"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/emulator/policy"
	"github.com/nexus-operator/nexus-operator/internal/emulator/proxy"
)

// Service keeps nothing: moto has all that is needed.
type Service struct{ proxy.Base }

// Facts returns all that the proxy asks of the service.
func (s *Service) Facts() *proxy.Facts {
	return &proxy.Facts{
		Prefix:   "iam",
		IsGlobal: true,
		Requests: proxy.RequestFacts{
			Keys: []string{"RoleName", "InstanceProfileName", "UserName", "GroupName", "PolicyName", "PolicyArn",
				"OpenIDConnectProviderArn", "Url"},
			ShortName: ShortName,
		},
		Errors: proxy.ErrorFacts{
			Missing: map[string]proxy.Error{
				"":              {Status: http.StatusNotFound, Code: "NoSuchEntity", Message: "The entity with name %s cannot be found."},
				"GetRole":       {Status: http.StatusNotFound, Code: "NoSuchEntity", Message: "The role with name %s cannot be found."},
				"GetRolePolicy": {Status: http.StatusNotFound, Code: "NoSuchEntity", Message: "The role with name %s cannot be found."},
			},
			Throttled: proxy.RateExceeded,
		},
		Writes: proxy.WriteFacts{
			TagReads: []proxy.TagRead{{Op: "*", Where: "Tags"}},
			InTurn: []string{"AddClientIDToOpenIDConnectProvider", "RemoveClientIDFromOpenIDConnectProvider", "DeleteOpenIDConnectProvider",
				"GetOpenIDConnectProvider", "TagOpenIDConnectProvider", "UntagOpenIDConnectProvider", "UpdateOpenIDConnectProviderThumbprint"},
		},
		Names: map[string]proxy.NameRule{
			"CreateRole":    {Member: "RoleName", Min: 1, Max: 64, Pattern: iamName, Code: "ValidationError"},
			"PutRolePolicy": {Member: "PolicyName", Min: 1, Max: 128, Pattern: iamName, Code: "ValidationError"},
			"CreatePolicy":  {Member: "PolicyName", Min: 1, Max: 128, Pattern: iamName, Code: "ValidationError"},
		},
		Rights: proxy.RightFacts{
			ChangesRights: true,
			Context:       addBoundary,
			Namings: map[string]proxy.Naming{
				"iam instance-profile/*": {Names: namedProfiles},
				"iam oidc-provider/*":    {Members: []string{"@"}},
				"iam policy/*":           {Members: []string{"PolicyName"}},
				"iam role/*":             {Names: namedRoles},
			},
			Dependents: []proxy.Dependent{
				proxy.Tagging("iam:CreateOpenIDConnectProvider", "iam:TagOpenIDConnectProvider", "iam oidc-provider/*"),
				proxy.Tagging("iam:CreatePolicy", "iam:TagPolicy", "iam policy/*"),
				proxy.Tagging("iam:CreateInstanceProfile", "iam:TagInstanceProfile", "iam instance-profile/*"),
				proxy.Tagging("iam:CreateRole", "iam:TagRole", "iam role/*"),
				Hands("iam:AddRoleToInstanceProfile", "RoleName", "ec2"),
			},
		},
		Inventory: []proxy.InventoryKind{
			{Name: "iam/role", Global: true, List: proxy.ListXML("iam", "ListRoles", "2010-05-08", "RoleName")},
			{Name: "iam/policy", Global: true, List: proxy.ListXML("iam", "ListPolicies&Scope=Local", "2010-05-08", "PolicyName")},
			{Name: "iam/instance-profile", Global: true, List: proxy.ListXML("iam", "ListInstanceProfiles", "2010-05-08", "InstanceProfileName")},
			{Name: "iam/user", Global: true, List: proxy.ListXML("iam", "ListUsers", "2010-05-08", "UserName")},
			{Name: "iam/oidc-provider", Global: true, List: proxy.ListXML("iam", "ListOpenIDConnectProviders", "2010-05-08", "Arn")},
		},
		Rewrites: []proxy.Rewrite{{Kind: "IAMRole", Field: "assumeRolePolicyDocument", What: proxy.RewrittenPolicy, Ops: []string{"GetRole"},
			Text: rewriteTrust}},
		Events: proxy.EventFacts{Region: proxy.GlobalRegion},
	}
}

var iamName = regexp.MustCompile(`^[\w+=,.@-]+$`)

// Corrections returns the deviations of moto that the service makes up for.
func (s *Service) Corrections() []proxy.Correction {
	return []proxy.Correction{
		{Name: "tags of roles", Ops: []string{"TagRole", "UntagRole"}, Before: s.dropRoleTags},
		{Name: "audiences of OIDC providers",
			Ops: []string{"AddClientIDToOpenIDConnectProvider", "RemoveClientIDFromOpenIDConnectProvider"}, Before: s.changeAudiences},
	}
}

// ShortName is the name in an ARN of IAM or STS: without a path, except for that of an issuer.
func ShortName(name string) string {
	if issuer, ok := strings.CutPrefix(name, "oidc-provider/"); ok {
		return issuer
	}
	return name[strings.LastIndexByte(name, '/')+1:]
}

// changeAudiences: moto cannot change the audiences of an OIDC provider. The provider is deleted and created with the
// others; adding one that is there changes nothing, and IAM answers as it does otherwise:
// https://docs.aws.amazon.com/IAM/latest/APIReference/API_AddClientIDToOpenIDConnectProvider.html
func (s *Service) changeAudiences(ctx context.Context, x *proxy.Exchange) *proxy.Answer {
	provider, audience := x.Form.Get("OpenIDConnectProviderArn"), x.Form.Get("ClientID")
	ask := func(action string, form url.Values) (*proxy.Answer, error) {
		form.Set("Action", action)
		form.Set("Version", "2010-05-08")
		return s.Ask(ctx, x, http.MethodPost, "/", http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, []byte(form.Encode()))
	}
	a, err := ask("GetOpenIDConnectProvider", url.Values{"OpenIDConnectProviderArn": {provider}})
	if err != nil || !a.OK() {
		return a // with IAM's error about a provider that does not exist
	}
	var have struct {
		Audiences   []string `xml:"GetOpenIDConnectProviderResult>ClientIDList>member"`
		Thumbprints []string `xml:"GetOpenIDConnectProviderResult>ThumbprintList>member"`
		Tags        []struct {
			Key, Value string
		} `xml:"GetOpenIDConnectProviderResult>Tags>member"`
	}
	if xml.Unmarshal(a.Body, &have) != nil {
		return nil
	}
	have.Audiences = slices.DeleteFunc(have.Audiences, func(id string) bool { return id == audience })
	if x.Op == "AddClientIDToOpenIDConnectProvider" {
		have.Audiences = append(have.Audiences, audience)
	}
	create := url.Values{"Url": {"https://" + provider[strings.Index(provider, "/")+1:]}}
	for i, id := range have.Audiences {
		create.Set(fmt.Sprintf("ClientIDList.member.%d", i+1), id)
	}
	for i, print := range have.Thumbprints {
		create.Set(fmt.Sprintf("ThumbprintList.member.%d", i+1), print)
	}
	for i, tag := range have.Tags {
		create.Set(fmt.Sprintf("Tags.member.%d.Key", i+1), tag.Key)
		create.Set(fmt.Sprintf("Tags.member.%d.Value", i+1), tag.Value)
	}
	if a, err = ask("DeleteOpenIDConnectProvider", url.Values{"OpenIDConnectProviderArn": {provider}}); err == nil && a.OK() {
		a, err = ask("CreateOpenIDConnectProvider", create)
	}
	if err != nil || !a.OK() {
		return a
	}
	return &proxy.Answer{Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/xml"}},
		Body: []byte("<" + x.Op +
			`Response xmlns="https://iam.amazonaws.com/doc/2010-05-08/"><ResponseMetadata><RequestId>00000000-0000-0000-0000-000000000000</RequestId></ResponseMetadata></` + x.Op + "Response>")}
}

// dropRoleTags: IAM takes tag keys of a role that differ in case only for the same, and moto does not. Those that the request means by
// another case are dropped before it. https://docs.aws.amazon.com/IAM/latest/UserGuide/id_tags.html
func (s *Service) dropRoleTags(ctx context.Context, x *proxy.Exchange) *proxy.Answer {
	var named []string
	for member, values := range x.Form {
		if strings.HasPrefix(member, "Tags.member.") && strings.HasSuffix(member, ".Key") || strings.HasPrefix(member, "TagKeys.member.") {
			named = append(named, values...)
		}
	}
	ask := func(form url.Values) (*proxy.Answer, error) {
		form.Set("Version", "2010-05-08")
		form.Set("RoleName", x.Form.Get("RoleName"))
		return s.Ask(ctx, x, http.MethodPost, "/", http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, []byte(form.Encode()))
	}
	a, err := ask(url.Values{"Action": {"GetRole"}})
	var role struct {
		Keys []string `xml:"GetRoleResult>Role>Tags>member>Key"`
	}
	if err != nil || !a.OK() || xml.Unmarshal(a.Body, &role) != nil {
		return nil // IAM's own answer says why
	}
	drop := url.Values{"Action": {"UntagRole"}}
	for _, key := range role.Keys {
		if !slices.Contains(named, key) && slices.ContainsFunc(named, func(n string) bool { return strings.EqualFold(n, key) }) {
			drop.Set(fmt.Sprintf("TagKeys.member.%d", len(drop)), key)
		}
	}
	if len(drop) > 1 {
		if _, err := ask(drop); err != nil {
			return proxy.ProxyError(x, err)
		}
	}
	return nil
}

// boundaryActions are the operations that AWS evaluates with the permissions boundary that a role has, or gets with the request.
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_awsidentityandaccessmanagementiam.html
var boundaryActions = []string{"AttachRolePolicy", "CreateRole", "DeleteRolePermissionsBoundary", "DeleteRolePolicy", "DetachRolePolicy",
	"PutRolePermissionsBoundary", "PutRolePolicy"}

// addBoundary adds the boundary of the role to the context of a request that gives a role permissions.
func addBoundary(q *proxy.Asker) {
	if q.X.Service != "iam" || !slices.Contains(boundaryActions, q.X.Op) {
		return
	}
	boundary := q.X.Form.Get("PermissionsBoundary")
	if boundary == "" && q.X.Op != "CreateRole" {
		boundary = boundaryOf(q, q.X.Form.Get("RoleName"))
	}
	if boundary != "" {
		q.Context["iam:permissionsboundary"] = []string{boundary}
	}
}

// boundaryOf asks for the boundary of a role; "" for none.
func boundaryOf(q *proxy.Asker, role string) string {
	form := url.Values{"Action": {"GetRole"}, "Version": {"2010-05-08"}, "RoleName": {role}}
	body, err := q.Inside().Send(q.Ctx, "iam", http.MethodPost, "application/x-www-form-urlencoded", "", []byte(form.Encode()))
	var answer struct {
		Boundary string `xml:"GetRoleResult>Role>PermissionsBoundary>PermissionsBoundaryArn"`
	}
	if err != nil || xml.Unmarshal(body, &answer) != nil {
		return "" // such as: it does not exist
	}
	return answer.Boundary
}

// namedProfiles are instance profiles of IAM with their paths.
func namedProfiles(q *proxy.Asker) []string {
	return namedInIAM(q, "InstanceProfileName", "GetInstanceProfile", ":instance-profile/")
}

func namedRoles(q *proxy.Asker) []string {
	if strings.HasSuffix(q.X.Op, "InstanceProfile") && q.X.Op != "AddRoleToInstanceProfile" {
		return nil
	}
	return append(namedInIAM(q, "RoleName", "GetRole", ":role/"), q.Values("RoleArn")...)
}

// namedInIAM returns the name in a member with the path that the request gives it or that it has.
func namedInIAM(q *proxy.Asker, field, op, before string) []string {
	name := q.X.Form.Get(field)
	path := strings.Trim(q.X.Form.Get("Path"), "/")
	switch {
	case name == "":
		return nil
	case path != "":
		return []string{path + "/" + name}
	case proxy.IsNew(q.X.Op):
		return []string{name}
	}
	return []string{pathInIAM(q, name, field, op, before)}
}

var arnElement = regexp.MustCompile(`<Arn>([^<]+)</Arn>`)

// pathInIAM is the name of something in IAM with its path, if it exists. It is asked of the emulator itself: IAM decides at once.
func pathInIAM(q *proxy.Asker, name, field, op, before string) string {
	form := url.Values{"Action": {op}, "Version": {"2010-05-08"}, field: {name}}
	body, err := q.Direct().Send(q.Ctx, "iam", http.MethodPost, "application/x-www-form-urlencoded", "", []byte(form.Encode()))
	if err != nil {
		return name
	}
	for _, m := range arnElement.FindAllSubmatch(body, -1) {
		if _, whole, ok := strings.Cut(string(m[1]), before); ok {
			return whole
		}
	}
	return name
}

// roleARN is that of a role by its name or its ARN.
func roleARN(q *proxy.Asker, role string) string {
	if role == "" || strings.HasPrefix(role, "arn:") {
		return role
	}
	return "arn:" + q.Partition() + ":iam::" + q.Account() + ":role/" + pathInIAM(q, role, "RoleName", "GetRole", ":role/")
}

// roleOfProfile is the ARN of the role in an instance profile, by its name or ARN.
func roleOfProfile(q *proxy.Asker, profile string) string {
	name := profile[strings.LastIndexByte(profile, '/')+1:]
	_, whole, _ := strings.Cut(pathInIAM(q, name, "InstanceProfileName", "GetInstanceProfile", ":role"), "/")
	return "arn:" + q.Partition() + ":iam::" + q.Account() + ":role/" + cmp.Or(whole, "none")
}

// Passes is the demand for giving a role to a service. In China, EC2 has a name of the partition.
// https://docs.amazonaws.cn/en_us/aws/latest/userguide/iam.html
func Passes(q *proxy.Asker, role, service string) policy.Demand {
	name := service + ".amazonaws.com"
	if service == "ec2" && q.Partition() == "aws-cn" {
		name += ".cn"
	}
	return q.Need("iam:PassRole", role, map[string]string{"iam:PassedToService": name})
}

// Hands is the right to give a role, which a member names, to a service.
func Hands(action, with, service string) proxy.Dependent {
	return proxy.Dependent{Action: action, Needs: "iam:PassRole", With: with, On: func(q *proxy.Asker) []policy.Demand {
		var out []policy.Demand
		for _, role := range q.Values(with) {
			if strings.HasPrefix(with, "IamInstanceProfile.") {
				role = roleOfProfile(q, role)
			}
			out = append(out, Passes(q, roleARN(q, role), service))
		}
		return out
	}, Page: "https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_use_passrole.html"}
}

// Linked is the right to make the role that a service has for itself.
func Linked(action, with, service string) proxy.Dependent {
	return proxy.Dependent{Action: action, Needs: "iam:CreateServiceLinkedRole", With: with, Page: proxy.OwnRoles,
		On: func(q *proxy.Asker) []policy.Demand {
			name := service + ".amazonaws.com"
			arn := "arn:" + q.Partition() + ":iam::" + q.Account() + ":role/aws-service-role/" + name + "/AWSServiceRole"
			return []policy.Demand{q.Need("iam:CreateServiceLinkedRole", arn, map[string]string{"iam:AWSServiceName": name})}
		}}
}

var trustDocument = regexp.MustCompile(`<AssumeRolePolicyDocument>([^<]*)</AssumeRolePolicyDocument>`)

// rewriteTrust rewrites the trust policy in an answer of IAM, which encodes it like a part of a URL.
func rewriteTrust(body string) string {
	return trustDocument.ReplaceAllStringFunc(body, func(element string) string {
		plain, err := url.QueryUnescape(trustDocument.FindStringSubmatch(element)[1])
		if err != nil {
			return element
		}
		return "<AssumeRolePolicyDocument>" + strings.ReplaceAll(url.QueryEscape(proxy.RewritePolicy(plain)), "+", "%20") +
			"</AssumeRolePolicyDocument>"
	})
}
