// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"context"
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
)

// SecretReport lists the secrets that people fill in.
type SecretReport struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Secrets    []SecretStatus `json:"secrets"`
}

// Len returns the number of its entries.
func (r *SecretReport) Len() int { return len(r.Secrets) }

// SecretStatus is one secret with placeholders.
type SecretStatus struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Secret is its name in Secrets Manager.
	Secret string `json:"secret"`
	// FilledIn is True once a person replaced the placeholder, False before, and Unknown while the secret does not exist.
	FilledIn metav1.ConditionStatus `json:"filledIn"`
	// Keys lists the keys that people fill in.
	Keys    []string    `json:"keys"`
	Created metav1.Time `json:"created"`
}

// PlaceholderKeys are the keys of a secret that people fill in: those that get no random value.
func PlaceholderKeys(o *v1alpha1.SecretsManagerSecret) []string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(o.Spec.Placeholder)) {
		if o.Spec.Generate == nil || !slices.Contains(o.Spec.Generate.Keys, key) {
			out = append(out, key)
		}
	}
	return out
}

// Secrets reads the secrets with placeholders of a namespace, or of all namespaces when it is empty.
func (r *Reader) Secrets(ctx context.Context, namespace string) (*SecretReport, error) {
	list := &v1alpha1.SecretsManagerSecretList{}
	if err := r.Client.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("listing SecretsManagerSecret objects: %w", err)
	}
	out := &SecretReport{APIVersion: APIVersion, Kind: "SecretReport", Secrets: []SecretStatus{}}
	for i := range list.Items {
		o := &list.Items[i]
		keys := PlaceholderKeys(o)
		if len(keys) == 0 {
			continue
		}
		s := SecretStatus{Namespace: o.Namespace, Name: o.Name, Secret: o.Spec.SecretName, FilledIn: metav1.ConditionUnknown, Keys: keys,
			Created: o.CreationTimestamp}
		if p := o.Status.Populated; p != nil && *p {
			s.FilledIn = metav1.ConditionTrue
		} else if p != nil {
			s.FilledIn = metav1.ConditionFalse
		}
		out.Secrets = append(out.Secrets, s)
	}
	return out, nil
}
