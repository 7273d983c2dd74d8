// SPDX-License-Identifier: Apache-2.0

package iam

import (
	"cmp"
	"strings"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// workloadTrust lets exactly the declared ServiceAccounts assume the role, in each of the declared ways.
func workloadTrust(sc kind.Scope, in v1alpha1.IAMRoleSpec) (*string, error) {
	var statements []iampolicy.Statement
	if in.IRSA != nil {
		s, err := irsaTrust(sc, *in.IRSA)
		if err != nil {
			return nil, err
		}
		statements = append(statements, s)
	}
	if in.PodIdentity != nil {
		if field, why := kind.WhyNotForPods(sc, in.PodIdentity.ClusterName, in.PodIdentity.Namespace); why != "" {
			return nil, notPermitted("spec.podIdentity."+field, "%s", why)
		}
		statements = append(statements, iampolicy.PodIdentity{
			Cluster:   "arn:" + sc.Partition + ":eks:" + sc.Region + ":" + sc.Account + ":cluster/" + in.PodIdentity.ClusterName,
			Namespace: cmp.Or(in.PodIdentity.Namespace, sc.Namespace), Name: in.PodIdentity.ServiceAccount,
		}.Trust())
	}
	trust, err := iampolicy.New(statements...).Encode()
	return &trust, err
}

// irsaTrust lets exactly one ServiceAccount assume the role, by the tokens that the cluster issues for STS.
// https://docs.aws.amazon.com/eks/latest/userguide/associate-service-account-role.html
func irsaTrust(sc kind.Scope, in v1alpha1.IAMRoleIRSA) (iampolicy.Statement, error) {
	var none iampolicy.Statement
	namespace := sc.Namespace
	if in.Namespace != "" && in.Namespace != sc.Namespace {
		if !sc.Trusted {
			return none, notPermitted("spec.irsa.namespace", "a role can be given only to ServiceAccounts of the object's own namespace, %s", sc.Namespace)
		}
		namespace = in.Namespace
	}
	if sc.Federation.Issuer == "" {
		if sc.Federation.NoIssuer != nil {
			return none, sc.Federation.NoIssuer
		}
		return none, &status.Waiting{Reason: status.ReasonIssuerUnknown, For: "the cluster's OIDC issuer to be known"}
	}
	issuer, ok := strings.CutPrefix(sc.Federation.Issuer, "https://")
	if !ok {
		return none, status.Invalid("spec.irsa", "the cluster's OIDC issuer %s is no https URL, so AWS cannot trust its tokens", issuer)
	}
	return iampolicy.ServiceAccount{
		Provider: "arn:" + sc.Partition + ":iam::" + sc.Account + ":oidc-provider/" + issuer,
		Audience: kind.STSAudience, Namespace: namespace, Name: in.ServiceAccount,
	}.Trust(), nil
}

// parseDocument parses a user's document. Its encoded form is sent to AWS, so the checked document and the sent one cannot differ.
func parseDocument(field, text string) (iampolicy.Document, string, error) {
	doc, err := iampolicy.ParseOfUser(text)
	if err != nil {
		return doc, "", status.Invalid(field, "%v", err)
	}
	text, err = doc.Encode()
	return doc, text, err
}
