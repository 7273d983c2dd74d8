// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// accounts leads to AWS by the providers of objects: as the operator does, or with the credentials of the user. Its functions are those of
// Planner.
type accounts struct {
	ahead       ahead
	open        func(ctx context.Context, region, endpoint string) (*awsclient.Session, error)
	access      Access
	refusal     func(provider *v1alpha1.AWSProvider) error
	reservation func(provider *v1alpha1.AWSProvider, obj v1alpha1.Resource) error
}

// areOpen reports whether the plan is made with AWS.
func (a accounts) areOpen() bool { return a.open != nil || a.access != nil }

// usedProvider returns the provider of an object. If none exists, or the operator does not use it, it returns nil and notes in the item
// that the object waits for it.
func (a accounts) usedProvider(ctx context.Context, it *Item, obj v1alpha1.Resource) (*v1alpha1.AWSProvider, error) {
	name := obj.CommonSpec().ProviderRef.Name
	provider, err := a.ahead.nextProvider(ctx, obj.GetNamespace(), name)
	if err != nil {
		return nil, err
	}
	if provider == nil {
		it.Waits = "AWSProvider/" + name + " to exist in namespace " + obj.GetNamespace()
		return nil, nil
	}
	if why, waits := a.notReady(provider); waits {
		it.Waits = "AWSProvider/" + name + " to be ready" + why
		return nil, nil
	}
	if why := a.whyRefused(provider); why != "" {
		it.Waits = "AWSProvider/" + name + " to be ready: " + why
		return nil, nil
	}
	return provider, nil
}

// notReady reports whether the operator uses a provider for nothing, such as one that is not allowed, and why. A provider that the plan
// creates or edits is judged by the operator after that.
func (a accounts) notReady(provider *v1alpha1.AWSProvider) (why string, waits bool) {
	judged := len(provider.Status.Conditions) > 0 && provider.Status.ObservedGeneration == provider.Generation
	if a.access != nil || !judged || status.ReadyAt(provider.Status.Conditions, provider.Generation) {
		return "", false
	}
	return status.WhyNotReady(provider.Status.Conditions), true
}

// whyRefused returns why the operator will not use a provider that the manifests declare; empty where it will. One that a capability
// generates is judged with the capability.
func (a accounts) whyRefused(provider *v1alpha1.AWSProvider) string {
	_, declared := a.ahead.find("AWSProvider", provider.Namespace, provider.Name)
	if !declared || a.refusal == nil || metav1.GetControllerOf(provider) != nil {
		return ""
	}
	if err := a.refusal(provider); err != nil {
		return err.Error()
	}
	return ""
}

// openWith opens an account with the credentials of the user.
func (a accounts) openWith(ctx context.Context, region, endpoint string) (*awsclient.Session, error) {
	session, err := a.open(ctx, region, endpoint)
	if err != nil {
		return nil, &AccessError{Err: err}
	}
	return session, nil
}

// session opens the account of an object's provider: as the operator does, or with the credentials of the user.
func (a accounts) session(ctx context.Context, provider *v1alpha1.AWSProvider, obj v1alpha1.Resource, trusted bool) (*awsclient.Session,
	Standing, error) {
	standing := Standing{Vouched: trusted}
	if a.access != nil {
		if provider.UID == "" {
			session, err := a.generated(ctx, provider, obj, trusted)
			return session, standing, err
		}
		session, standing, err := a.access.Session(ctx, obj, trusted)
		return session, standing, awsclient.ExplainOnce(err, "")
	}
	if a.reservation != nil && !trusted && metav1.GetControllerOf(provider) != nil {
		if err := a.reservation(provider, obj); err != nil {
			return nil, standing, err
		}
	}
	session, err := a.openWith(ctx, provider.Spec.Region, provider.Spec.Endpoint)
	if err != nil {
		return nil, standing, err
	}
	if id := provider.Status.AccountID; id != "" && id != session.Account {
		return nil, standing, &status.Stalled{Reason: status.ReasonProviderMoved, Message: fmt.Sprintf(
			"your AWS credentials lead to account %s, and AWSProvider/%s to account %s: plan with credentials of that account (AWS_PROFILE)",
			session.Account, provider.Name, id)}
	}
	return session, standing, nil
}

// generated is the session of a provider that a capability is yet to generate.
func (a accounts) generated(ctx context.Context, provider *v1alpha1.AWSProvider, obj v1alpha1.Resource, trusted bool) (*awsclient.Session,
	error) {
	session, err := a.access.Generated(ctx, provider, obj, trusted)
	return session, awsclient.ExplainOnce(err, "")
}

// futureSession is the session of the provider that the operator is yet to make for a capability. It leads where the operator's
// own credentials lead, or those of the user.
func (a accounts) futureSession(ctx context.Context, c *nexusv1.NexusAICapability, region string) (*awsclient.Session, error) {
	if a.access == nil {
		return a.openWith(ctx, region, "")
	}
	provider := &v1alpha1.AWSProvider{Spec: v1alpha1.AWSProviderSpec{Region: region}}
	provider.Namespace, provider.Name = c.Namespace, capability.ProviderName(c)
	return a.generated(ctx, provider, nil, true)
}

// AccessError says that the user cannot reach AWS.
type AccessError struct{ Err error }

// Error implements error.
func (e *AccessError) Error() string { return "reaching AWS: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *AccessError) Unwrap() error { return e.Err }
