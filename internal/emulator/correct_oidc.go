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

// changeAudiences: moto cannot change the audiences of an OIDC provider. The provider is deleted and created with the
// others; adding one that is there changes nothing, and IAM answers as it does otherwise:
// https://docs.aws.amazon.com/IAM/latest/APIReference/API_AddClientIDToOpenIDConnectProvider.html
func changeAudiences(ctx context.Context, p *Proxy, x *exchange) *answer {
	provider, audience := x.form.Get("OpenIDConnectProviderArn"), x.form.Get("ClientID")
	ask := func(action string, form url.Values) (*answer, error) {
		form.Set("Action", action)
		form.Set("Version", "2010-05-08")
		return p.ask(ctx, x, http.MethodPost, "/", http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, []byte(form.Encode()))
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
