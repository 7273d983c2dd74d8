// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"encoding/xml"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/nexus-operator/nexus-operator/internal/emulator/policy"
)

// callers holds the state that the proxy needs to decide by the policies of IAM. The emulator could decide too, but evaluates no resources
// except in S3, and takes a condition that is not met for a refusal (docs/design/0054).
type callers struct {
	proxy *Proxy

	mu       sync.Mutex
	enforced bool
	users    map[string]string                    // access key → name of the user
	roles    map[string]string                    // access key → name of the assumed role
	accounts map[string]map[string]*policy.Rights // account → "user/NAME" or "role/NAME" → policies, until something in IAM changes
	changes  int                                  // in IAM
	limits   map[string]*Limited                  // by access key
}

// Limited holds the rights of an access key, and those among them that requests have used.
type Limited struct {
	rights *policy.Rights
	keys   map[string]string
	mu     sync.Mutex
	used   map[string]bool
}

// Limit enforces the rights that AWS asks for on requests with an access key. The key has the rights of the policies; other keys need none.
// It ends with Reset. Keys of KMS that the emulator does not have carry the given tags for it.
func (p *Proxy) Limit(accessKey string, tagsOfUnknownKeys map[string]string, policies ...string) *Limited {
	l := &Limited{keys: tagsOfUnknownKeys, used: map[string]bool{},
		rights: &policy.Rights{Caller: "arn:aws:iam::" + DefaultAccount + ":user/limited", Identity: documents(policies...)}}
	p.callers.mu.Lock()
	defer p.callers.mu.Unlock()
	p.callers.limits[accessKey] = l
	return l
}

// Used returns the parts of the policies that requests were allowed by, each as an action and a resource.
func (l *Limited) Used() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(maps.Keys(l.used))
}

// note records the statements that allow a demand.
func (l *Limited) note(d policy.Demand) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.rights.Identity {
		if s.Effect != "Allow" || !s.Covers(d) {
			continue
		}
		for _, pattern := range policy.List(s.Resource) {
			if policy.Matches(pattern, d.Resource) {
				l.used[d.Action+" "+pattern] = true
			}
		}
	}
}

func (c *callers) limitOf(accessKey string) *Limited {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.limits[accessKey]
}

// tagsOfUnknownKeys returns the keys of keys of KMS that the emulator does not have.
func (c *callers) tagsOfUnknownKeys(accessKey string) map[string]string {
	if l := c.limitOf(accessKey); l != nil {
		return l.keys
	}
	return nil
}

func (c *callers) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.enforced, c.accounts = false, nil
	c.users, c.roles, c.limits = map[string]string{}, map[string]string{}, map[string]*Limited{}
}

// EnforceIAM lets requests that come by the proxy need the rights that AWS asks for, from now on, or no longer. They must then
// come with an access key of CreateUser or of a role that was assumed. Signatures are not checked, nor are policies of
// resources. Policies that were changed past the proxy count from the next call of EnforceIAM.
func (p *Proxy) EnforceIAM(on bool) {
	p.callers.mu.Lock()
	defer p.callers.mu.Unlock()
	p.callers.enforced, p.callers.accounts = on, nil
	p.callers.changes++
}

// authorize returns the refusal of a request that its caller has no right to; nil lets it pass.
func (c *callers) authorize(ctx context.Context, x *Exchange) *Answer {
	c.mu.Lock()
	enforced, limited := c.enforced, c.limits[x.AccessKey]
	c.mu.Unlock()
	if !enforced && limited == nil || slices.Contains(x.facts().Rights.Open, x.Op) {
		return nil
	}
	held, err := c.heldBy(ctx, x, limited)
	switch {
	case err != nil:
		return x.Refuse(http.StatusInternalServerError, "InternalFailure", "the policies of the caller: "+err.Error())
	case held == nil:
		return x.Refuse(http.StatusForbidden, "InvalidClientTokenId", "The security token included in the request is invalid.")
	}
	for _, d := range c.demandsOf(ctx, x) {
		if !held.Allow(d) {
			return ErrorAnswer(x.Request, refusal(x.Request, held.Refusal(d)))
		}
		if limited != nil {
			limited.note(d)
		}
	}
	return nil
}

// Refuses returns AWS's message when an access key lacks the right to an action on a resource. A service behind Divert carries out the
// action. The arguments have the condition keys of the request and the tags of the resource. The message is empty if the key has the right
// or rights are not enforced.
func (p *Proxy) Refuses(ctx context.Context, accessKey, action, resource string, keys, tags map[string]string) (string, error) {
	p.callers.mu.Lock()
	enforced, limited := p.callers.enforced, p.callers.limits[accessKey]
	p.callers.mu.Unlock()
	if !enforced && limited == nil {
		return "", nil
	}
	held, err := p.callers.heldBy(ctx, &Exchange{Request: &Request{AccessKey: accessKey}}, limited)
	if err != nil {
		return "", err
	}
	d := policy.Demand{Action: action, Resource: resource, Context: map[string][]string{}, Tags: func() map[string]string { return tags }}
	for key, value := range keys {
		d.Context[strings.ToLower(key)] = []string{value}
	}
	if held == nil || held.Allow(d) {
		return "", nil // an unknown caller has been refused before
	}
	return held.Refusal(d), nil
}

// heldBy returns the rights of who sent a request.
func (c *callers) heldBy(ctx context.Context, x *Exchange, limited *Limited) (*policy.Rights, error) {
	if limited != nil {
		return limited.rights, nil
	}
	return c.rightsOf(ctx, x)
}

// refusal is the error of a missing right, which services name differently.
func refusal(d *Request, message string) Error {
	switch {
	case d.Protocol == ProtocolEC2:
		return Error{http.StatusForbidden, "UnauthorizedOperation", message}
	case d.facts().Errors.Denied != "":
		return Error{http.StatusForbidden, d.facts().Errors.Denied, message}
	case d.Protocol == protocolJSON:
		return Error{http.StatusBadRequest, "AccessDeniedException", message}
	case d.Protocol == protocolREST:
		return Error{http.StatusForbidden, "AccessDeniedException", message}
	}
	return Error{http.StatusForbidden, "AccessDenied", message}
}

// rightsOf returns the policies of who sent a request; nil for an access key that no one has.
func (c *callers) rightsOf(ctx context.Context, x *Exchange) (*policy.Rights, error) {
	account := c.proxy.AccountOf(x.AccessKey)
	c.mu.Lock()
	name := "user/" + c.users[x.AccessKey]
	if role := c.roles[x.AccessKey]; role != "" {
		name = "role/" + role
	}
	known, changes := c.accounts[account], c.changes
	c.mu.Unlock()
	if known == nil {
		read, err := c.readRights(ctx, x.AccessKey)
		if err != nil {
			return nil, err
		}
		known = read
		c.mu.Lock()
		if changes == c.changes {
			if c.accounts == nil {
				c.accounts = map[string]map[string]*policy.Rights{}
			}
			c.accounts[account] = known
		}
		c.mu.Unlock()
	}
	return known[name], nil
}

// noteIAM forgets the policies when a request may have changed them, and records the role of the keys of an assumed role.
func (c *callers) noteIAM(x *Exchange, a *Answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	rights := &x.facts().Rights
	if rights.ChangesRights && x.IsWrite() {
		c.accounts = nil
		c.changes++
	}
	if !rights.GivesKeys {
		return
	}
	if key, arn := AssumedRole(a); key != "" {
		c.roles[key] = strings.Split(arn, "/")[1]
	}
}

// add records the user of an access key. The policies are read again: the emulator was asked for a user without the proxy's knowing.
func (c *callers) add(accessKey, user string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.users[accessKey], c.accounts = user, nil
	c.changes++
}

// AssumedRole returns the access key and the ARN, arn:…:assumed-role/NAME/SESSION, of an answer of AssumeRole.
func AssumedRole(a *Answer) (accessKey, arn string) {
	var result struct {
		Key string `xml:"Credentials>AccessKeyId"`
		ARN string `xml:"AssumedRoleUser>Arn"`
	}
	var body struct {
		Inner []byte `xml:",innerxml"`
	}
	if !a.OK() || xml.Unmarshal(a.Body, &body) != nil || xml.Unmarshal(body.Inner, &result) != nil || strings.Count(result.ARN, ":") < 5 {
		return "", ""
	}
	return result.Key, result.ARN
}

// authorizationDetails is the answer of GetAccountAuthorizationDetails, as far as it is needed.
type authorizationDetails struct {
	Users []struct {
		Name      string   `xml:"UserName"`
		ARN       string   `xml:"Arn"`
		Managed   []string `xml:"AttachedManagedPolicies>member>PolicyArn"`
		Documents []string `xml:"UserPolicyList>member>PolicyDocument"`
	} `xml:"GetAccountAuthorizationDetailsResult>UserDetailList>member"`
	Roles []struct {
		Name      string   `xml:"RoleName"`
		ARN       string   `xml:"Arn"`
		Managed   []string `xml:"AttachedManagedPolicies>member>PolicyArn"`
		Documents []string `xml:"RolePolicyList>member>PolicyDocument"`
		Boundary  string   `xml:"PermissionsBoundary>PermissionsBoundaryArn"`
	} `xml:"GetAccountAuthorizationDetailsResult>RoleDetailList>member"`
	Policies []struct {
		ARN      string `xml:"Arn"`
		Versions []struct {
			Document string `xml:"Document"`
			Default  bool   `xml:"IsDefaultVersion"`
		} `xml:"PolicyVersionList>member"`
	} `xml:"GetAccountAuthorizationDetailsResult>Policies>member"`
}

// readRights asks the emulator for the policies of everybody in the account of an access key.
func (c *callers) readRights(ctx context.Context, accessKey string) (map[string]*policy.Rights, error) {
	form := url.Values{"Action": {"GetAccountAuthorizationDetails"}, "Version": {"2010-05-08"},
		"Filter.member.1": {"User"}, "Filter.member.2": {"Role"}, "Filter.member.3": {"LocalManagedPolicy"}}
	l := c.proxy.lister(accessKey, DefaultRegion)
	body, err := l.Send(ctx, "iam", http.MethodPost, "application/x-www-form-urlencoded", "", []byte(form.Encode()))
	if err != nil {
		return nil, err
	}
	var d authorizationDetails
	if err := xml.Unmarshal(body, &d); err != nil {
		return nil, err
	}
	managed := map[string][]policy.Statement{}
	for _, m := range d.Policies {
		for _, v := range m.Versions {
			if v.Default {
				managed[m.ARN] = documents(v.Document)
			}
		}
	}
	all := map[string]*policy.Rights{}
	holder := func(name, arn, boundary string, inline, arns []string) {
		r := &policy.Rights{Caller: arn, Identity: documents(inline...), Boundary: managed[boundary], Bounded: boundary != ""}
		for _, policy := range arns {
			r.Identity = append(r.Identity, managed[policy]...)
		}
		all[name] = r
	}
	for _, u := range d.Users {
		holder("user/"+u.Name, u.ARN, "", u.Documents, u.Managed)
	}
	for _, r := range d.Roles {
		holder("role/"+r.Name, r.ARN, r.Boundary, r.Documents, r.Managed)
	}
	return all, nil
}

// documents reads policy documents, which IAM shows with escapes.
func documents(texts ...string) []policy.Statement {
	var out []policy.Statement
	for _, text := range texts {
		if plain, err := url.PathUnescape(text); err == nil {
			text = plain
		}
		out = append(out, policy.StatementsOf(text)...)
	}
	return out
}
