// SPDX-License-Identifier: Apache-2.0

package awssession

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// IsLoopback reports whether an address, host and port, is of this machine only.
func IsLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func ownNamespace(field, namespace string, obj client.Object) error {
	if namespace != "" && namespace != obj.GetNamespace() {
		return status.Invalid(field, "must be empty or the object's own namespace %s", obj.GetNamespace())
	}
	return nil
}

// Provenance reports whether a capability, as it stands now, compiles to exactly this object. An object that it vouches for may use the
// provider that the capability generated and declare fields that only the operator may; an owner reference alone proves nothing, because
// everyone who creates an object can write one.
type Provenance interface {
	IsGenerated(ctx context.Context, obj client.Object) (bool, error)
}

// Guards are the administrator's limits on providers.
type Guards struct {
	// AmbientNamespaces are the namespaces (patterns) with providers that may use the operator's own identity.
	AmbientNamespaces []string
	// CapabilityNamespaces are the namespaces (patterns) where a generated provider may use the operator's own identity.
	CapabilityNamespaces []string
	// DefaultBoundary is the ARN of the permissions boundary of every generated provider; with it, generated providers
	// may use the operator's own identity in every namespace. Empty is none.
	DefaultBoundary string
	// AllowedEndpoints are the endpoints (patterns) a provider may name.
	AllowedEndpoints []string
	// AllowCustomExternalID lets a provider choose its ExternalID.
	AllowCustomExternalID bool
	// Regions lists the regions that a provider without an endpoint of its own may name; empty leaves the region unchecked.
	Regions []string
}

// Directory returns the AWS session for an object.
type Directory struct {
	// Client reads from the cache.
	Client client.Client
	// Live reads Secrets from the API server itself.
	Live client.Reader
	// ClusterID is a part of the ExternalID of every provider.
	ClusterID string
	// OperatorNamespace is the operator's namespace, for messages that name its ServiceAccount.
	OperatorNamespace string
	Guards            Guards
	Sessions          *awsclient.Sessions
	// Provenance proves that a provider without credentials is the one a capability generated.
	Provenance Provenance

	mu   sync.Mutex
	open map[types.UID]opened
}

type opened struct {
	generation int64
	identity   awsclient.Identity
}

// PollInterval is the pause before a dependent looks again at a provider that is not ready; its watch is sooner.
const PollInterval = 30 * time.Second

// For returns the session of an object's provider. A provider that is absent or not ready is waited
// for, also while deleting: a missing credential never drops a finalizer.
func (p *Directory) For(ctx context.Context, obj v1alpha1.Resource, vouched bool) (*awsclient.Session, *v1alpha1.AWSProvider, error) {
	name := obj.CommonSpec().ProviderRef.Name
	if err := ownNamespace("spec.providerRef.namespace", obj.CommonSpec().ProviderRef.Namespace, obj); err != nil {
		return nil, nil, err
	}
	provider := &v1alpha1.AWSProvider{}
	err := p.Client.Get(ctx, client.ObjectKey{Namespace: obj.GetNamespace(), Name: name}, provider)
	if apierrors.IsNotFound(err) {
		return nil, nil, &status.Waiting{Reason: status.ReasonProviderMissing,
			For: "AWSProvider/" + name + " to exist in namespace " + obj.GetNamespace(), After: PollInterval}
	}
	if err != nil {
		return nil, nil, err
	}
	if !status.ReadyAt(provider.Status.Conditions, provider.Generation) {
		return nil, nil, &status.Waiting{Reason: status.ReasonProviderNotReady,
			For: "AWSProvider/" + name + " to be ready" + status.WhyNotReady(provider.Status.Conditions), After: PollInterval}
	}
	if err := p.mayUse(provider, obj, vouched); err != nil {
		return nil, nil, err
	}
	id, err := p.identityOf(ctx, provider)
	if err != nil {
		return nil, nil, err
	}
	session, err := p.Sessions.Open(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	return session, provider, checkAttested(provider, session)
}

// OfProvider returns the session of a provider that is ready, for the operator itself.
func (p *Directory) OfProvider(ctx context.Context, provider *v1alpha1.AWSProvider) (*awsclient.Session, error) {
	if !status.ReadyAt(provider.Status.Conditions, provider.Generation) {
		return nil, &status.Waiting{Reason: status.ReasonProviderNotReady,
			For: "AWSProvider/" + provider.Name + " to be ready" + status.WhyNotReady(provider.Status.Conditions), After: PollInterval}
	}
	id, err := p.identityOf(ctx, provider)
	if err != nil {
		return nil, err
	}
	session, err := p.Sessions.Open(ctx, id)
	if err != nil {
		return nil, err
	}
	return session, checkAttested(provider, session)
}

// Generated returns the session that an AWSProvider will have which a capability is yet to generate, for a plan: to the capability if obj
// is nil, and otherwise to an object that refers to it. It is refused as that AWSProvider, or the object, would be.
func (p *Directory) Generated(ctx context.Context, provider *v1alpha1.AWSProvider, obj v1alpha1.Resource, vouched bool) (*awsclient.Session,
	error) {
	s := provider.Spec
	if HasCredentials(provider) || s.Endpoint != "" || s.RoleARN != "" || s.AssumeRoleARN != "" {
		return nil, &status.Waiting{Reason: status.ReasonProviderMissing, For: "AWSProvider/" + provider.Name + " to exist in namespace " +
			provider.Namespace, After: PollInterval}
	}
	if !p.ambientAllowed(provider.Namespace) && !p.generatedAllowed(provider.Namespace) {
		return nil, p.generatedRefused(provider)
	}
	if obj != nil {
		if err := errors.Join(ownNamespace("spec.providerRef.namespace", obj.CommonSpec().ProviderRef.Namespace, obj),
			p.mayUse(provider, obj, vouched)); err != nil {
			return nil, err
		}
	}
	if err := p.checkRegion(provider); err != nil {
		return nil, err
	}
	return p.Sessions.Open(ctx, awsclient.Identity{Key: "generated/" + s.Region, Region: s.Region})
}

// Callers returns the ARNs of the identities as which AWS is called: those that lead to the session, and the operator's own, which a
// provider with credentials does not use. An identity that does not work there has no role there.
func (p *Directory) Callers(ctx context.Context, session *awsclient.Session) ([]string, error) {
	own, err := p.Sessions.Open(ctx, awsclient.Identity{Key: "generated/" + session.Region, Region: session.Region})
	if _, ok := status.AsStalled(err); ok {
		return session.Callers, nil
	}
	if err != nil {
		return nil, err
	}
	return slices.Concat(session.Callers, own.Callers), nil
}

// mayUse restricts the provider that a capability generated, and with it the operator's own identity, to the objects that the capability
// compiles to.
func (p *Directory) mayUse(provider *v1alpha1.AWSProvider, obj v1alpha1.Resource, vouched bool) error {
	if !p.Borrowed(provider) {
		return nil
	}
	if err := p.Guards.Reservation(provider, obj); err != nil {
		return err
	}
	if obj.GetDeletionTimestamp() != nil {
		return nil
	}
	if !p.generatedAllowed(provider.Namespace) { // it may still be ready from the time before a restart, or for a deletion
		return p.generatedRefused(provider)
	}
	if !vouched {
		return &status.Waiting{Reason: status.ReasonNotPermitted, For: "the object to be as its capability declares it", After: PollInterval}
	}
	return nil
}

// HasCredentials reports whether a provider names its own credentials.
func HasCredentials(p *v1alpha1.AWSProvider) bool {
	return p.Spec.CredentialsSecret != nil || p.Spec.AccessKeyIDRef != nil
}

// identityOf returns the identity last resolved for the provider's generation, and resolves it again after a restart. Secrets are read
// again when the provider's own controller does (resolve).
func (p *Directory) identityOf(ctx context.Context, provider *v1alpha1.AWSProvider) (awsclient.Identity, error) {
	p.mu.Lock()
	o, ok := p.open[provider.UID]
	p.mu.Unlock()
	if ok && o.generation == provider.Generation {
		return o.identity, nil
	}
	return p.Resolve(ctx, provider)
}

// Resolve makes the identity of a provider from its spec and Secrets, checked against the guards.
func (p *Directory) Resolve(ctx context.Context, provider *v1alpha1.AWSProvider) (awsclient.Identity, error) {
	id, err := p.build(ctx, provider)
	if err != nil {
		return id, err
	}
	p.mu.Lock()
	old, had := p.open[provider.UID]
	if p.open == nil {
		p.open = map[types.UID]opened{}
	}
	p.open[provider.UID] = opened{generation: provider.Generation, identity: id}
	p.mu.Unlock()
	if had && old.identity.Key != id.Key {
		p.Sessions.Forget(old.identity.Key)
	}
	return id, nil
}

func (p *Directory) build(ctx context.Context, provider *v1alpha1.AWSProvider) (awsclient.Identity, error) {
	s := provider.Spec
	own := awsclient.ExternalID(p.ClusterID, provider.Namespace, provider.Name)
	id := awsclient.Identity{
		Region: s.Region, Endpoint: s.Endpoint, RoleARN: s.RoleARN, AssumeRoleARN: s.AssumeRoleARN,
		ExternalID: own, SessionName: awsclient.SessionName(provider.Namespace, provider.Name),
	}
	if s.SessionDuration != nil {
		id.SessionDuration = s.SessionDuration.Duration
	}
	if s.ExternalID != "" && s.ExternalID != own {
		if !p.Guards.AllowCustomExternalID {
			return id, &status.Stalled{Reason: status.ReasonExternalIDNotAllowed, Field: "spec.externalID", Message: fmt.Sprintf(
				"must be %s, the ID derived for this provider; put that into the role's trust policy, or run the operator with --allow-custom-external-id", own)}
		}
		id.ExternalID = s.ExternalID
	}
	if err := errors.Join(p.checkRegion(provider), p.checkEndpoint(provider)); err != nil {
		return id, err
	}
	keys, version, err := p.keys(ctx, provider)
	if err != nil {
		return id, err
	}
	if keys == nil {
		if err := p.checkAmbient(ctx, provider); err != nil {
			return id, err
		}
	}
	id.Static = keys
	id.Key = fmt.Sprintf("%s/%d/%s", provider.UID, provider.Generation, version)
	return id, nil
}

// checkRegion refuses a region that does not exist: requests would go to a host name that does not resolve, or that
// an attacker could register. A custom endpoint may call its regions as it likes.
func (p *Directory) checkRegion(provider *v1alpha1.AWSProvider) error {
	s := provider.Spec
	if s.Endpoint != "" || len(p.Guards.Regions) == 0 || slices.Contains(p.Guards.Regions, s.Region) {
		return nil
	}
	return status.Invalid("spec.region",
		"%q is no AWS region that this operator knows: correct it, or have an administrator add a new region to --additional-regions", s.Region)
}

func (p *Directory) checkEndpoint(provider *v1alpha1.AWSProvider) error {
	e := provider.Spec.Endpoint
	if e == "" {
		return nil
	}
	refuse := func(why string) error {
		return &status.Stalled{Reason: status.ReasonEndpointNotAllowed, Field: "spec.endpoint", Message: why}
	}
	u, err := url.Parse(e)
	if err != nil || !isPlainURL(u) {
		return refuse("must be a plain URL: scheme, host and port") // the text before an @ only looks like a host
	}
	allowed := slices.ContainsFunc(p.Guards.AllowedEndpoints, func(pattern string) bool {
		ok, err := path.Match(pattern, e)
		return err == nil && ok
	})
	switch {
	case !allowed:
		return refuse("is not among the operator's --allowed-endpoints")
	case u.Scheme != "https" && !IsLoopback(u.Host):
		return refuse("must be https unless it is loopback")
	case !HasCredentials(provider):
		return refuse("must not receive the operator's own credentials: give the provider a credentialsSecret")
	}
	return nil
}

// isPlainURL reports whether a URL is scheme, host and port alone.
func isPlainURL(u *url.URL) bool {
	return u.Host != "" && u.User == nil && u.RawQuery == "" && u.Fragment == "" && strings.Trim(u.Path, "/") == ""
}

// Forget drops all data about a provider that is gone.
func (p *Directory) Forget(uid types.UID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if o, ok := p.open[uid]; ok {
		p.Sessions.Forget(o.identity.Key)
		delete(p.open, uid)
	}
}

// The keys of a credentials Secret.
const (
	keyAccessKeyID     = "AWS_ACCESS_KEY_ID"
	keySecretAccessKey = "AWS_SECRET_ACCESS_KEY"
	keySessionToken    = "AWS_SESSION_TOKEN"
)

// keys reads the provider's credentials; nil when it has none. The version changes whenever they do.
func (p *Directory) keys(ctx context.Context, provider *v1alpha1.AWSProvider) (*awsclient.StaticKeys, string, error) {
	s := provider.Spec
	switch {
	case s.CredentialsSecret != nil:
		if namespace := s.CredentialsSecret.Namespace; namespace == p.OperatorNamespace && namespace != provider.Namespace && namespace != "" {
			return p.grantedKeys(ctx, provider)
		}
		if err := ownNamespace("spec.credentialsSecret.namespace", s.CredentialsSecret.Namespace, provider); err != nil {
			return nil, "", err
		}
		secret, err := p.secret(ctx, provider.Namespace, s.CredentialsSecret.Name)
		if err != nil {
			return nil, "", err
		}
		return keysOf(secret)
	case s.AccessKeyIDRef != nil && s.SecretAccessKeyRef != nil:
		return p.keyRefs(ctx, provider)
	default:
		return nil, "", nil
	}
}

// AnnotationAllowedNamespaces of a Secret in the operator's namespace lists the namespaces, or patterns of them, separated by commas, for
// AWSProviders that may use its credentials. People there need no right to the Secret.
const AnnotationAllowedNamespaces = "nexus.ai/allowed-namespaces"

// grantedKeys reads credentials from a Secret of the operator's namespace that an administrator grants to the provider's namespace.
// Absent, forbidden and not granted have one answer.
func (p *Directory) grantedKeys(ctx context.Context, provider *v1alpha1.AWSProvider) (*awsclient.StaticKeys, string, error) {
	name := provider.Spec.CredentialsSecret.Name
	secret, err := p.secret(ctx, p.OperatorNamespace, name)
	if _, missing := status.AsStalled(err); err != nil && !missing {
		return nil, "", err
	}
	if err != nil || !MatchesAny(strings.Split(secret.Annotations[AnnotationAllowedNamespaces], ","), provider.Namespace) {
		return nil, "", &status.Stalled{Reason: status.ReasonCredentialsMissing, Field: "spec.credentialsSecret", Message: fmt.Sprintf(
			"Secret %s/%s does not exist, may not be read, or is not granted to this namespace: have an administrator set its annotation %s=%s, and let the operator read it: "+
				"kubectl create rolebinding nexus-operator-secrets -n %s --clusterrole=nexus-operator-secrets --serviceaccount=%s:nexus-operator; this is noticed within a minute",
			p.OperatorNamespace, name, AnnotationAllowedNamespaces, provider.Namespace, p.OperatorNamespace, p.OperatorNamespace)}
	}
	return keysOf(secret)
}

func keysOf(secret *corev1.Secret) (*awsclient.StaticKeys, string, error) {
	for _, k := range []string{keyAccessKeyID, keySecretAccessKey} {
		if len(secret.Data[k]) == 0 {
			return nil, "", missingKey(secret.Name, k)
		}
	}
	return &awsclient.StaticKeys{
		AccessKeyID:     strings.TrimSpace(string(secret.Data[keyAccessKeyID])),
		SecretAccessKey: awsclient.NewSecret(strings.TrimSpace(string(secret.Data[keySecretAccessKey]))),
		SessionToken:    awsclient.NewSecret(strings.TrimSpace(string(secret.Data[keySessionToken]))),
	}, secret.ResourceVersion, nil
}

func (p *Directory) keyRefs(ctx context.Context, provider *v1alpha1.AWSProvider) (*awsclient.StaticKeys, string, error) {
	var values, versions [2]string
	for i, ref := range []*v1alpha1.SecretKeyReference{provider.Spec.AccessKeyIDRef, provider.Spec.SecretAccessKeyRef} {
		field := []string{"spec.accessKeyIDRef.namespace", "spec.secretAccessKeyRef.namespace"}[i]
		if err := ownNamespace(field, ref.Namespace, provider); err != nil {
			return nil, "", err
		}
		secret, err := p.secret(ctx, provider.Namespace, ref.Name)
		if err != nil {
			return nil, "", err
		}
		if len(secret.Data[ref.Key]) == 0 {
			return nil, "", missingKey(ref.Name, ref.Key)
		}
		values[i], versions[i] = strings.TrimSpace(string(secret.Data[ref.Key])), secret.ResourceVersion
	}
	return &awsclient.StaticKeys{AccessKeyID: values[0], SecretAccessKey: awsclient.NewSecret(values[1])}, strings.Join(versions[:], "+"), nil
}

// secret reads a Secret live. Absent and forbidden have one answer, so that nothing can be probed.
func (p *Directory) secret(ctx context.Context, namespace, name string) (*corev1.Secret, error) {
	s := &corev1.Secret{}
	legal := len(validation.IsDNS1123Subdomain(name)) == 0 // no Secret has another name, and the client refuses to ask for one
	var err error
	if legal {
		err = p.Live.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, s)
	}
	if !legal || apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
		return nil, &status.Stalled{Reason: status.ReasonCredentialsMissing, Message: fmt.Sprintf(
			"Secret %s/%s does not exist or may not be read; create it, and let the operator read it: kubectl create rolebinding nexus-operator-secrets -n %s --clusterrole=nexus-operator-secrets --serviceaccount=%s:nexus-operator; this is noticed within a minute",
			namespace, name, namespace, p.OperatorNamespace)}
	}
	return s, err
}

// SecretKey reads one key of a Secret.
func (p *Directory) SecretKey(ctx context.Context, namespace, name, key string) ([]byte, error) {
	s, err := p.secret(ctx, namespace, name)
	if err != nil {
		return nil, err
	}
	v, ok := s.Data[key]
	if !ok {
		return nil, missingKey(name, key)
	}
	return v, nil
}

func missingKey(name, key string) error {
	return &status.Stalled{Reason: status.ReasonCredentialsMissing, Message: fmt.Sprintf("Secret %s has no key %s", name, key)}
}
