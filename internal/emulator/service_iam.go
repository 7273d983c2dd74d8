// SPDX-License-Identifier: Apache-2.0

package emulator

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
)

// iamService keeps nothing: moto has all that is needed.
type iamService struct{ base }

func (s *iamService) Facts() *Facts {
	return &Facts{
		Prefix:   "iam",
		IsGlobal: true,
		Requests: RequestFacts{
			Keys:      []string{"RoleName", "InstanceProfileName", "UserName", "GroupName", "PolicyName", "PolicyArn", "OpenIDConnectProviderArn", "Url"},
			ShortName: nameInIAM,
		},
		Errors: ErrorFacts{
			Missing: map[string]awsError{
				"":              {http.StatusNotFound, "NoSuchEntity", "The entity with name %s cannot be found."},
				"GetRole":       {http.StatusNotFound, "NoSuchEntity", "The role with name %s cannot be found."},
				"GetRolePolicy": {http.StatusNotFound, "NoSuchEntity", "The role with name %s cannot be found."},
			},
			Throttled: rateExceeded,
		},
		Writes: WriteFacts{
			TagReads: []tagRead{{op: "*", where: "Tags"}},
			InTurn: []string{"AddClientIDToOpenIDConnectProvider", "RemoveClientIDFromOpenIDConnectProvider", "DeleteOpenIDConnectProvider",
				"GetOpenIDConnectProvider", "TagOpenIDConnectProvider", "UntagOpenIDConnectProvider", "UpdateOpenIDConnectProviderThumbprint"},
		},
		Names: map[string]nameRule{
			"CreateRole":    {"RoleName", 1, 64, iamName, "ValidationError"},
			"PutRolePolicy": {"PolicyName", 1, 128, iamName, "ValidationError"},
			"CreatePolicy":  {"PolicyName", 1, 128, iamName, "ValidationError"},
		},
		Rights: RightFacts{
			ChangesRights: true,
			Context:       addBoundary,
			Namings: map[string]naming{
				"iam instance-profile/*": {names: namedProfiles},
				"iam oidc-provider/*":    {members: []string{"@"}},
				"iam policy/*":           {members: []string{"PolicyName"}},
				"iam role/*":             {names: namedRoles},
			},
			Dependents: []dependent{
				tagging("iam:CreateOpenIDConnectProvider", "iam:TagOpenIDConnectProvider", "iam oidc-provider/*"),
				tagging("iam:CreatePolicy", "iam:TagPolicy", "iam policy/*"),
				tagging("iam:CreateInstanceProfile", "iam:TagInstanceProfile", "iam instance-profile/*"),
				tagging("iam:CreateRole", "iam:TagRole", "iam role/*"),
				hands("iam:AddRoleToInstanceProfile", "RoleName", "ec2"),
			},
		},
		Inventory: []inventoryKind{
			{"iam/role", true, listXML("iam", "ListRoles", "2010-05-08", "RoleName")},
			{"iam/policy", true, listXML("iam", "ListPolicies&Scope=Local", "2010-05-08", "PolicyName")},
			{"iam/instance-profile", true, listXML("iam", "ListInstanceProfiles", "2010-05-08", "InstanceProfileName")},
			{"iam/user", true, listXML("iam", "ListUsers", "2010-05-08", "UserName")},
			{"iam/oidc-provider", true, listXML("iam", "ListOpenIDConnectProviders", "2010-05-08", "Arn")},
		},
		Rewrites: []Rewrite{{Kind: "IAMRole", Field: "assumeRolePolicyDocument", What: rewrittenPolicy, ops: []string{"GetRole"}, text: rewriteTrust}},
		Events:   EventFacts{Region: globalRegion},
	}
}

var iamName = regexp.MustCompile(`^[\w+=,.@-]+$`)

func (s *iamService) Corrections() []Correction {
	return []Correction{
		{Name: "tags of roles", Ops: []string{"TagRole", "UntagRole"}, Before: s.dropRoleTags},
		{Name: "audiences of OIDC providers", Ops: []string{"AddClientIDToOpenIDConnectProvider", "RemoveClientIDFromOpenIDConnectProvider"}, Before: s.changeAudiences},
	}
}

// nameInIAM is the name in an ARN of IAM or STS: without a path, except for that of an issuer.
func nameInIAM(name string) string {
	if issuer, ok := strings.CutPrefix(name, "oidc-provider/"); ok {
		return issuer
	}
	return name[strings.LastIndexByte(name, '/')+1:]
}

// changeAudiences: moto cannot change the audiences of an OIDC provider. The provider is deleted and created with the
// others; adding one that is there changes nothing, and IAM answers as it does otherwise:
// https://docs.aws.amazon.com/IAM/latest/APIReference/API_AddClientIDToOpenIDConnectProvider.html
func (s *iamService) changeAudiences(ctx context.Context, x *exchange) *answer {
	provider, audience := x.form.Get("OpenIDConnectProviderArn"), x.form.Get("ClientID")
	ask := func(action string, form url.Values) (*answer, error) {
		form.Set("Action", action)
		form.Set("Version", "2010-05-08")
		return s.ask(ctx, x, http.MethodPost, "/", http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, []byte(form.Encode()))
	}
	a, err := ask("GetOpenIDConnectProvider", url.Values{"OpenIDConnectProviderArn": {provider}})
	if err != nil || !a.ok() {
		return a // with IAM's error about a provider that does not exist
	}
	var have struct {
		Audiences   []string `xml:"GetOpenIDConnectProviderResult>ClientIDList>member"`
		Thumbprints []string `xml:"GetOpenIDConnectProviderResult>ThumbprintList>member"`
		Tags        []struct {
			Key, Value string
		} `xml:"GetOpenIDConnectProviderResult>Tags>member"`
	}
	if xml.Unmarshal(a.body, &have) != nil {
		return nil
	}
	have.Audiences = slices.DeleteFunc(have.Audiences, func(id string) bool { return id == audience })
	if x.op == "AddClientIDToOpenIDConnectProvider" {
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
	if a, err = ask("DeleteOpenIDConnectProvider", url.Values{"OpenIDConnectProviderArn": {provider}}); err == nil && a.ok() {
		a, err = ask("CreateOpenIDConnectProvider", create)
	}
	if err != nil || !a.ok() {
		return a
	}
	return &answer{http.StatusOK, http.Header{"Content-Type": {"text/xml"}},
		[]byte("<" + x.op + `Response xmlns="https://iam.amazonaws.com/doc/2010-05-08/"><ResponseMetadata><RequestId>00000000-0000-0000-0000-000000000000</RequestId></ResponseMetadata></` + x.op + "Response>")}
}

// dropRoleTags: IAM takes tag keys of a role that differ in case only for the same, and moto does not. Those that the request means by
// another case are dropped before it. https://docs.aws.amazon.com/IAM/latest/UserGuide/id_tags.html
func (s *iamService) dropRoleTags(ctx context.Context, x *exchange) *answer {
	var named []string
	for member, values := range x.form {
		if strings.HasPrefix(member, "Tags.member.") && strings.HasSuffix(member, ".Key") || strings.HasPrefix(member, "TagKeys.member.") {
			named = append(named, values...)
		}
	}
	ask := func(form url.Values) (*answer, error) {
		form.Set("Version", "2010-05-08")
		form.Set("RoleName", x.form.Get("RoleName"))
		return s.ask(ctx, x, http.MethodPost, "/", http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, []byte(form.Encode()))
	}
	a, err := ask(url.Values{"Action": {"GetRole"}})
	var role struct {
		Keys []string `xml:"GetRoleResult>Role>Tags>member>Key"`
	}
	if err != nil || !a.ok() || xml.Unmarshal(a.body, &role) != nil {
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
			return proxyError(x, err)
		}
	}
	return nil
}

// boundaryActions are the operations for which AWS evaluates the boundary that a role has, or gets with the request.
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_awsidentityandaccessmanagementiam.html
var boundaryActions = []string{"AttachRolePolicy", "CreateRole", "DeleteRolePermissionsBoundary", "DeleteRolePolicy", "DetachRolePolicy", "PutRolePermissionsBoundary", "PutRolePolicy"}

// addBoundary adds the boundary of the role to the context of a request that gives a role permissions.
func addBoundary(q *asker) {
	if q.x.service != "iam" || !slices.Contains(boundaryActions, q.x.op) {
		return
	}
	boundary := q.x.form.Get("PermissionsBoundary")
	if boundary == "" && q.x.op != "CreateRole" {
		boundary = boundaryOf(q, q.x.form.Get("RoleName"))
	}
	if boundary != "" {
		q.context["iam:permissionsboundary"] = []string{boundary}
	}
}

// boundaryOf asks for the boundary of a role; "" for none.
func boundaryOf(q *asker, role string) string {
	form := url.Values{"Action": {"GetRole"}, "Version": {"2010-05-08"}, "RoleName": {role}}
	body, err := q.inside().send(q.ctx, "iam", http.MethodPost, "application/x-www-form-urlencoded", "", []byte(form.Encode()))
	var answer struct {
		Boundary string `xml:"GetRoleResult>Role>PermissionsBoundary>PermissionsBoundaryArn"`
	}
	if err != nil || xml.Unmarshal(body, &answer) != nil {
		return "" // such as: it does not exist
	}
	return answer.Boundary
}

// namedProfiles are instance profiles of IAM with their paths.
func namedProfiles(q *asker) []string {
	return namedInIAM(q, "InstanceProfileName", "GetInstanceProfile", ":instance-profile/")
}

func namedRoles(q *asker) []string {
	if strings.HasSuffix(q.x.op, "InstanceProfile") && q.x.op != "AddRoleToInstanceProfile" {
		return nil
	}
	return append(namedInIAM(q, "RoleName", "GetRole", ":role/"), q.values("RoleArn")...)
}

// namedInIAM returns the name in a member with the path that the request gives it or that it has.
func namedInIAM(q *asker, field, op, before string) []string {
	name := q.x.form.Get(field)
	path := strings.Trim(q.x.form.Get("Path"), "/")
	switch {
	case name == "":
		return nil
	case path != "":
		return []string{path + "/" + name}
	case isNew(q.x.op):
		return []string{name}
	}
	return []string{pathInIAM(q, name, field, op, before)}
}

var arnElement = regexp.MustCompile(`<Arn>([^<]+)</Arn>`)

// pathInIAM is the name of something in IAM with its path, if it exists. It is asked of the emulator itself: IAM decides at once.
func pathInIAM(q *asker, name, field, op, before string) string {
	form := url.Values{"Action": {op}, "Version": {"2010-05-08"}, field: {name}}
	body, err := q.p.lister(q.x.accessKey, q.x.region).send(q.ctx, "iam", http.MethodPost, "application/x-www-form-urlencoded", "", []byte(form.Encode()))
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
func roleARN(q *asker, role string) string {
	if role == "" || strings.HasPrefix(role, "arn:") {
		return role
	}
	return "arn:" + q.partition() + ":iam::" + q.account() + ":role/" + pathInIAM(q, role, "RoleName", "GetRole", ":role/")
}

// roleOfProfile is the ARN of the role in an instance profile, by its name or ARN.
func roleOfProfile(q *asker, profile string) string {
	name := profile[strings.LastIndexByte(profile, '/')+1:]
	_, whole, _ := strings.Cut(pathInIAM(q, name, "InstanceProfileName", "GetInstanceProfile", ":role"), "/")
	return "arn:" + q.partition() + ":iam::" + q.account() + ":role/" + cmp.Or(whole, "none")
}

// passes is the demand for giving a role to a service. In China, EC2 has a name of the partition.
// https://docs.amazonaws.cn/en_us/aws/latest/userguide/iam.html
func passes(q *asker, role, service string) demand {
	name := service + ".amazonaws.com"
	if service == "ec2" && q.partition() == "aws-cn" {
		name += ".cn"
	}
	return q.need("iam:PassRole", role, map[string]string{"iam:PassedToService": name})
}

// hands is the right to give a role, which a member names, to a service.
func hands(action, with, service string) dependent {
	return dependent{action: action, needs: "iam:PassRole", with: with, on: func(q *asker) []demand {
		var out []demand
		for _, role := range q.values(with) {
			if strings.HasPrefix(with, "IamInstanceProfile.") {
				role = roleOfProfile(q, role)
			}
			out = append(out, passes(q, roleARN(q, role), service))
		}
		return out
	}, page: "https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_use_passrole.html"}
}

// linked is the right to make the role that a service has for itself.
func linked(action, with, service string) dependent {
	return dependent{action: action, needs: "iam:CreateServiceLinkedRole", with: with, page: ownRoles, on: func(q *asker) []demand {
		name := service + ".amazonaws.com"
		arn := "arn:" + q.partition() + ":iam::" + q.account() + ":role/aws-service-role/" + name + "/AWSServiceRole"
		return []demand{q.need("iam:CreateServiceLinkedRole", arn, map[string]string{"iam:AWSServiceName": name})}
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
		return "<AssumeRolePolicyDocument>" + strings.ReplaceAll(url.QueryEscape(rewritePolicy(plain)), "+", "%20") + "</AssumeRolePolicyDocument>"
	})
}
