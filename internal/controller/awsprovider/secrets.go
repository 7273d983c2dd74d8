// SPDX-License-Identifier: Apache-2.0

package awsprovider

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// SecretFinalizer keeps a Secret while resources that were made with it still have to be deleted with it.
const SecretFinalizer = v1alpha1.GroupName + "/credentials-in-use"

// addSecretFinalizers keeps the Secrets that the provider reads. It names those that a person wants to delete. A Secret that may
// not be read or patched is not held: the provider says itself when it misses its credentials.
func (r *Reconciler) addSecretFinalizers(ctx context.Context, provider *v1alpha1.AWSProvider) (going []*metav1.PartialObjectMetadata,
	err error) {
	for _, name := range secretsOf(provider) {
		s := &metav1.PartialObjectMetadata{}
		s.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
		err := r.Live.Get(ctx, client.ObjectKey{Namespace: provider.Namespace, Name: name}, s)
		switch {
		case apierrors.IsNotFound(err) || apierrors.IsForbidden(err):
			continue
		case err != nil:
			return nil, fmt.Errorf("reading Secret %s: %w", name, err)
		case s.DeletionTimestamp != nil:
			going = append(going, s)
			continue
		}
		was := s.DeepCopy()
		if !controllerutil.AddFinalizer(s, SecretFinalizer) {
			continue
		}
		if err := r.patchSecret(ctx, s, was); err != nil {
			return nil, err
		}
	}
	return going, nil
}

func (r *Reconciler) patchSecret(ctx context.Context, s, was *metav1.PartialObjectMetadata) error {
	err := r.Client.Patch(ctx, s, client.MergeFromWithOptions(was, client.MergeFromWithOptimisticLock{}))
	if err == nil || apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
		return nil
	}
	return fmt.Errorf("patching the finalizer of Secret %s: %w", s.Name, err)
}

// removeSecretFinalizers releases the namespace's Secrets that no provider but the excepted one needs any longer.
func (r *Reconciler) removeSecretFinalizers(ctx context.Context, namespace string, except types.UID) error {
	secrets := &metav1.PartialObjectMetadataList{}
	secrets.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("SecretList"))
	err := r.Live.List(ctx, secrets, client.InNamespace(namespace))
	if apierrors.IsForbidden(err) {
		return nil // nor could any be held here
	}
	if err != nil {
		return fmt.Errorf("listing Secrets: %w", err)
	}
	for i := range secrets.Items {
		s := &secrets.Items[i]
		was := s.DeepCopy()
		if !controllerutil.RemoveFinalizer(s, SecretFinalizer) {
			continue
		}
		needed, err := r.isSecretNeeded(ctx, s, except)
		if err != nil {
			return err
		}
		if needed {
			continue
		}
		s.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
		if err := r.patchSecret(ctx, s, was); err != nil {
			return err
		}
	}
	return nil
}

// tellSecrets says in an event on each Secret in deletion which objects hold it: who deletes the Secret looks there. It says so
// once, when the condition of the provider begins.
func (r *Reconciler) tellSecrets(provider *v1alpha1.AWSProvider, going []*metav1.PartialObjectMetadata, users []string) {
	if provider.DeletionTimestamp != nil || meta.IsStatusConditionTrue(provider.Status.Conditions, conditionInUse) {
		return
	}
	for _, s := range going {
		what := fmt.Sprintf("the Secret, which AWSProvider %s reads; finalizer %s keeps it until they are gone or the provider reads another Secret", provider.Name, SecretFinalizer)
		r.Events.RelatedTo(provider).Warning(s, status.ReasonInUse, "Delete", inUseMessage(users, what))
	}
}

// hasWorked reports whether AWS ever said who the provider is. Before that nothing was made with its credentials, so that they
// are not needed to delete anything: a person may take a Secret with wrong keys away, and create it again.
func hasWorked(p *v1alpha1.AWSProvider) bool {
	return p.Status.AccountID != ""
}

// isSecretNeeded reports whether a provider reads the Secret and, where a person wants it deleted, has worked and is in use.
func (r *Reconciler) isSecretNeeded(ctx context.Context, s *metav1.PartialObjectMetadata, except types.UID) (bool, error) {
	providers := &v1alpha1.AWSProviderList{}
	if err := r.Client.List(ctx, providers, client.InNamespace(s.Namespace)); err != nil {
		return false, err
	}
	for i := range providers.Items {
		p := &providers.Items[i]
		if p.UID == except || !readsSecret(p, s.Name) {
			continue
		}
		if s.DeletionTimestamp == nil {
			return true, nil
		}
		if !hasWorked(p) {
			continue
		}
		if users, err := r.Dependents(ctx, p.Namespace, p.Name); len(users) > 0 || err != nil {
			return true, err
		}
	}
	return false, nil
}

// secretsOf names the Secrets of its own namespace that a provider reads.
func secretsOf(p *v1alpha1.AWSProvider) []string {
	var out []string
	s := p.Spec
	if s.CredentialsSecret != nil && (s.CredentialsSecret.Namespace == "" || s.CredentialsSecret.Namespace == p.Namespace) {
		out = append(out, s.CredentialsSecret.Name)
	}
	for _, ref := range []*v1alpha1.SecretKeyReference{s.AccessKeyIDRef, s.SecretAccessKeyRef} {
		if ref != nil && (len(out) == 0 || out[len(out)-1] != ref.Name) {
			out = append(out, ref.Name)
		}
	}
	return out
}

// providersReading returns the providers that read the Secret.
func providersReading(reader client.Reader) func(context.Context, client.Object) []client.Object {
	return func(ctx context.Context, secret client.Object) []client.Object {
		providers := &v1alpha1.AWSProviderList{}
		if err := reader.List(ctx, providers); err != nil {
			return nil // the periodic check comes all the same
		}
		var out []client.Object
		for i := range providers.Items {
			p := &providers.Items[i]
			own := p.Namespace == secret.GetNamespace() && readsSecret(p, secret.GetName())
			if own || isGranted(p, secret) {
				out = append(out, p)
			}
		}
		return out
	}
}

// isGranted reports whether a provider reads a Secret of the operator's namespace, which is another one than its own. No finalizer
// keeps that: it is the administrator's.
func isGranted(p *v1alpha1.AWSProvider, secret client.Object) bool {
	ref := p.Spec.CredentialsSecret
	return ref != nil && ref.Namespace != p.Namespace && ref.Namespace == secret.GetNamespace() && ref.Name == secret.GetName()
}

func readsSecret(p *v1alpha1.AWSProvider, name string) bool {
	return slices.Contains(secretsOf(p), name)
}
