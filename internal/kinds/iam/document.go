// SPDX-License-Identifier: Apache-2.0

package iam

import (
	"strings"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// irsaTrust lets exactly one ServiceAccount assume the role, by the tokens that the cluster issues for STS.
// https://docs.aws.amazon.com/eks/latest/userguide/associate-service-account-role.html
func irsaTrust(sc kind.Scope, in v1alpha1.IAMRoleIRSA) (*string, error) {
	namespace := sc.Namespace
	if in.Namespace != "" && in.Namespace != sc.Namespace {
		if !sc.Trusted {
			return nil, notPermitted("spec.irsa.namespace", "a role can be given only to ServiceAccounts of the object's own namespace, %s", sc.Namespace)
		}
		namespace = in.Namespace
	}
	if sc.Issuer == "" {
		if sc.NoIssuer != nil {
			return nil, sc.NoIssuer
		}
		return nil, &status.Waiting{Reason: status.ReasonIssuerUnknown, For: "the cluster's OIDC issuer to be known"}
	}
	issuer, ok := strings.CutPrefix(sc.Issuer, "https://")
	if !ok {
		return nil, status.Invalid("spec.irsa", "the cluster's OIDC issuer %s is no https URL, so AWS cannot trust its tokens", sc.Issuer)
	}
	trust, err := iampolicy.New(iampolicy.ServiceAccount{
		Provider: "arn:" + sc.Partition + ":iam::" + sc.Account + ":oidc-provider/" + issuer,
		Audience: kind.STSAudience, Namespace: namespace, Name: in.ServiceAccount,
	}.Trust()).Encode()
	return &trust, err
}

// parseDocument parses a user's document. Its encoded form is what is sent to AWS, so the checked
// document and the sent one cannot differ.
func parseDocument(field, text string) (iampolicy.Document, string, error) {
	doc, err := iampolicy.ParseOfUser(text)
	if err != nil {
		return doc, "", status.Invalid(field, "%v", err)
	}
	text, err = doc.Encode()
	return doc, text, err
}
