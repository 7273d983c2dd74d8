// SPDX-License-Identifier: Apache-2.0

package awssession

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Borrowed reports whether a provider uses the operator's own identity only because a capability generated it.
func (p *Directory) Borrowed(provider *v1alpha1.AWSProvider) bool {
	return !HasCredentials(provider) && !p.ambientAllowed(provider.Namespace)
}

// IsLent reports whether a provider uses the operator's own identity and was generated for a capability, which alone it serves, unless an
// administrator allows the identity to the whole namespace.
func IsLent(provider *v1alpha1.AWSProvider) bool {
	return !HasCredentials(provider) && metav1.GetControllerOf(provider) != nil
}

// ambientAllowed reports whether every provider of a namespace may use the operator's own identity.
func (p *Directory) ambientAllowed(namespace string) bool {
	return MatchesAny(p.Guards.AmbientNamespaces, namespace)
}

// generatedAllowed reports whether generated providers of a namespace may use the operator's own identity.
func (p *Directory) generatedAllowed(namespace string) bool {
	return p.Guards.DefaultBoundary != "" || MatchesAny(p.Guards.CapabilityNamespaces, namespace)
}

// MatchesAny reports whether a name matches one of the patterns.
func MatchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		return ok && err == nil
	})
}

// checkAmbient refuses the operator's own identity to a provider outside --ambient-namespaces, unless a capability
// generated the provider and the administrator allows that: by --capability-namespaces, or by a boundary for every role.
// Deletions are always possible, because the administrator may have withdrawn a namespace that was allowed.
func (p *Directory) checkAmbient(ctx context.Context, provider *v1alpha1.AWSProvider) error {
	if p.ambientAllowed(provider.Namespace) || provider.DeletionTimestamp != nil {
		return nil
	}
	vouched, err := p.Provenance.IsGenerated(ctx, provider)
	switch {
	case err != nil:
		return err
	case !vouched:
		return p.ambientRefused(provider)
	case p.generatedAllowed(provider.Namespace):
		return nil
	}
	deleting, err := p.ownerDeleting(ctx, provider)
	if err != nil || deleting {
		return err
	}
	return p.generatedRefused(provider)
}

// ownerDeleting reports whether the capability that generated a provider is being deleted.
func (p *Directory) ownerDeleting(ctx context.Context, provider *v1alpha1.AWSProvider) (bool, error) {
	owner, c := metav1.GetControllerOf(provider), &nexusv1.NexusAICapability{}
	if owner == nil {
		return false, nil
	}
	err := p.Client.Get(ctx, client.ObjectKey{Namespace: provider.Namespace, Name: owner.Name}, c)
	return err == nil && c.UID == owner.UID && c.DeletionTimestamp != nil, client.IgnoreNotFound(err)
}

// Refusal returns why the operator will refuse its own identity to a provider that a person declares; nil where it does not.
func (g Guards) Refusal(provider *v1alpha1.AWSProvider) error {
	d := &Directory{Guards: g}
	if HasCredentials(provider) || d.ambientAllowed(provider.Namespace) {
		return nil
	}
	return d.ambientRefused(provider)
}

// Reservation returns why the operator will not use a provider that a capability generated for an object of another owner; nil where
// it will.
func (g Guards) Reservation(provider *v1alpha1.AWSProvider, obj v1alpha1.Resource) error {
	d := &Directory{Guards: g}
	a, b := metav1.GetControllerOf(provider), metav1.GetControllerOf(obj)
	if !d.Borrowed(provider) || a != nil && b != nil && a.UID == b.UID {
		return nil
	}
	return &status.Stalled{Reason: status.ReasonNotPermitted, Field: "spec.providerRef", Message: fmt.Sprintf(
		"AWSProvider/%s acts with the operator's own identity and serves only the capability that made it: create an AWSProvider with credentialsSecret, "+
			"or have an administrator start the operator with %s", provider.Name, d.ambientFlag(provider.Namespace))}
}

// ambientRefused names the flag of the operator, with its whole new value, that lets the provider act with the
// operator's own identity or assume roleARN with it.
func (p *Directory) ambientRefused(provider *v1alpha1.AWSProvider) error {
	use := "act with the operator's own AWS identity"
	for _, role := range []string{provider.Spec.AssumeRoleARN, provider.Spec.RoleARN} {
		if role != "" {
			use = "assume " + role + " with the operator's own AWS identity"
		}
	}
	return &status.Stalled{Reason: status.ReasonAmbientNotAllowed, Message: fmt.Sprintf(
		"the provider has no credentials, and providers of namespace %s may not %s: set spec.credentialsSecret, or have an administrator start the operator with %s",
		provider.Namespace, use, p.ambientFlag(provider.Namespace))}
}

// generatedRefused names the two flags of the operator that let the generated provider act with the operator's own identity, one of them
// with its complete new value.
func (p *Directory) generatedRefused(provider *v1alpha1.AWSProvider) error {
	return &status.Stalled{Reason: status.ReasonAmbientNotAllowed, Message: fmt.Sprintf(
		"the NexusAICapability names no provider, and the AWSProvider generated for it may not act with the operator's own AWS identity in namespace %s: "+
			"set spec.providerRef of the NexusAICapability to an AWSProvider of this namespace, or have an administrator start the operator with %s, or with --default-permissions-boundary=<policy ARN>%s",
		provider.Namespace, FlagAllowing("--capability-namespaces", p.Guards.CapabilityNamespaces, provider.Namespace),
		chartValue("--default-permissions-boundary"))}
}

// ambientFlag is the flag that allows one more namespace, with those that are allowed already.
func (p *Directory) ambientFlag(namespace string) string {
	return FlagAllowing("--ambient-namespaces", p.Guards.AmbientNamespaces, namespace)
}

// FlagAllowing is a flag of patterns with its present values and one more, and the chart's value that sets it.
func FlagAllowing(flag string, patterns []string, name string) string {
	return flag + "=" + strings.Join(append(slices.Clone(patterns), name), ",") + chartValue(flag)
}

// chartValue names, in parentheses, the value of the Helm chart that sets a flag about tenants: ADR 0024.
func chartValue(flag string) string {
	words := strings.Split(strings.TrimPrefix(flag, "--"), "-")
	for i, word := range words[1:] {
		words[i+1] = strings.ToUpper(word[:1]) + word[1:]
	}
	return " (value tenants." + strings.Join(words, "") + " of the Helm chart)"
}
