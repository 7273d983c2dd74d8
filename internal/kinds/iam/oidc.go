// SPDX-License-Identifier: Apache-2.0

package iam

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// oidcNote reports whether IAM accepts the tokens of the role's ServiceAccount. Without the IAM OIDC provider of the cluster's issuer the
// role is as declared and no pod can use it. It returns nil when there is nothing new to report: for a role without irsa, and while a
// passing failure hides the earlier report.
func oidcNote(sc kind.Scope, cr *v1alpha1.IAMRole) *kind.Note {
	reported := meta.FindStatusCondition(cr.Status.Conditions, v1alpha1.ConditionOIDCProviderReady) != nil
	note := &kind.Note{Type: v1alpha1.ConditionOIDCProviderReady}
	switch {
	case cr.Spec.IRSA == nil && reported: // irsa was replaced by a trust policy
		note.True, note.Reason, note.Message = true, status.ReasonSkipped, "the role does not trust the cluster's issuer: spec.irsa is not set"
		return note
	case cr.Spec.IRSA == nil || sc.Federation.OIDCProvider == nil:
		return nil
	}
	issuer := sc.Federation.Issuer
	provider, err := sc.Federation.OIDCProvider(issuer)
	if err != nil {
		return unknownProvider(note, err, reported)
	}
	switch {
	case !provider.Exists:
		note.Recheck, note.Reason = true, status.ReasonOIDCProviderMissing
		note.Message = fmt.Sprintf("account %s has no IAM OIDC provider for the cluster's issuer %s, so that pods get no credentials; create it in that account: nexusctl fix-irsa, or "+
			"aws iam create-open-id-connect-provider --url %s --client-id-list %s", sc.Account, issuer, issuer, kind.STSAudience)
	case !provider.Accepts(kind.STSAudience):
		note.Recheck, note.Reason = true, status.ReasonOIDCAudienceMissing
		note.Message = fmt.Sprintf("in account %s the IAM OIDC provider for the cluster's issuer %s does not accept the audience %s, so that pods get no credentials; add it: nexusctl fix-irsa, or "+
			"aws iam add-client-id-to-open-id-connect-provider --open-id-connect-provider-arn %s --client-id %s", sc.Account, issuer, kind.STSAudience, provider.ARN, kind.STSAudience)
	default:
		note.True, note.Reason, note.Message = true, status.ReasonReady, "IAM accepts the tokens of "+issuer+" in account "+sc.Account
	}
	return note
}

// unknownProvider reports that IAM gave no answer. A failure that only a person can fix is reported at once; a failure that passes is
// reported only if the status has no earlier answer.
func unknownProvider(note *kind.Note, err error, reported bool) *kind.Note {
	s, stalled := status.AsStalled(err)
	if !stalled && reported {
		return nil
	}
	note.Unknown, note.Recheck, note.Reason = true, true, status.ReasonRetrying
	if stalled {
		note.Reason = s.Reason
	}
	note.Message = "it is not known whether IAM accepts the tokens of pods: " + err.Error()
	return note
}
