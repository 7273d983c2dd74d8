// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// CreateUser creates an IAM user with inline policies and returns an access
// key of it, for runs under EnforceIAM. It is not recorded.
func (p *Proxy) CreateUser(ctx context.Context, name string, policies ...string) (accessKey, secretKey string, err error) {
	if _, err := p.askIAM(ctx, url.Values{"Action": {"CreateUser"}, "UserName": {name}}); err != nil {
		return "", "", err
	}
	for i, policy := range policies {
		form := url.Values{"Action": {"PutUserPolicy"}, "UserName": {name}, "PolicyName": {fmt.Sprintf("policy-%d", i+1)},
			"PolicyDocument": {policy}}
		if _, err := p.askIAM(ctx, form); err != nil {
			return "", "", err
		}
	}
	body, err := p.askIAM(ctx, url.Values{"Action": {"CreateAccessKey"}, "UserName": {name}})
	if err != nil {
		return "", "", err
	}
	var created struct {
		ID     string `xml:"CreateAccessKeyResult>AccessKey>AccessKeyId"`
		Secret string `xml:"CreateAccessKeyResult>AccessKey>SecretAccessKey"`
	}
	err = xml.Unmarshal(body, &created)
	p.callers.add(created.ID, name)
	return created.ID, created.Secret, err
}

// CreateOIDCProvider registers an issuer of ServiceAccount tokens in IAM for the
// audience sts.amazonaws.com, as `eksctl utils associate-iam-oidc-provider`
// does, and returns its ARN. It is not recorded.
func (p *Proxy) CreateOIDCProvider(ctx context.Context, issuer string) (arn string, err error) {
	body, err := p.askIAM(ctx, url.Values{"Action": {"CreateOpenIDConnectProvider"}, "Url": {issuer},
		"ClientIDList.member.1": {"sts.amazonaws.com"}, "ThumbprintList.member.1": {strings.Repeat("0", 40)}})
	if err != nil {
		return "", err
	}
	var created struct {
		ARN string `xml:"CreateOpenIDConnectProviderResult>OpenIDConnectProviderArn"`
	}
	err = xml.Unmarshal(body, &created)
	return created.ARN, err
}

// CreatePolicy creates an IAM policy of a customer that allows everything, such as a permissions boundary for tests, and returns its ARN.
// It is not recorded.
func (p *Proxy) CreatePolicy(ctx context.Context, name string) (arn string, err error) {
	body, err := p.askIAM(ctx, url.Values{"Action": {"CreatePolicy"}, "PolicyName": {name},
		"PolicyDocument": {`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}`}})
	if err != nil {
		return "", err
	}
	var created struct {
		ARN string `xml:"CreatePolicyResult>Policy>Arn"`
	}
	err = xml.Unmarshal(body, &created)
	return created.ARN, err
}

func (p *Proxy) askIAM(ctx context.Context, form url.Values) ([]byte, error) {
	form.Set("Version", "2010-05-08")
	l := p.lister(anyKey, DefaultRegion)
	return l.Send(ctx, "iam", http.MethodPost, "application/x-www-form-urlencoded", "", []byte(form.Encode()))
}
