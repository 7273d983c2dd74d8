// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"context"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// dropRoleTags: IAM takes tag keys of a role that differ in case only for the same, and moto does not. Those that the request means by
// another case are dropped before it. https://docs.aws.amazon.com/IAM/latest/UserGuide/id_tags.html
func dropRoleTags(ctx context.Context, p *Proxy, x *exchange) *answer {
	var named []string
	for member, values := range x.form {
		if strings.HasPrefix(member, "Tags.member.") && strings.HasSuffix(member, ".Key") || strings.HasPrefix(member, "TagKeys.member.") {
			named = append(named, values...)
		}
	}
	ask := func(form url.Values) (*answer, error) {
		form.Set("Version", "2010-05-08")
		form.Set("RoleName", x.form.Get("RoleName"))
		return p.ask(ctx, x, http.MethodPost, "/", http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, []byte(form.Encode()))
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
