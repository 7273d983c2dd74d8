// SPDX-License-Identifier: Apache-2.0

package intentfacts

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/intent"
)

// Declared holds the declarations that bindings are resolved against.
type Declared struct {
	// Intents are SecurityIntents by their names, to be read only.
	Intents map[string]*v1alpha1.SecurityIntent
	// Namespaces lists the namespaces that cluster bindings may select.
	Namespaces []intent.Namespace
}

// Divide resolves the bindings that concern a namespace, and has the engines divide its pods among the policies that restrict the network.
// It calls found with each of these policies and its binding. It returns the facts with these policies and with the division of each
// engine.
func Divide(engines []Engine, bindings []client.Object, d Declared, f intent.Facts, found func(intent.Policy, client.Object)) intent.Facts {
	var all []intent.Policy
	for _, o := range bindings {
		b := BindingOf(o)
		if o.GetDeletionTimestamp() != nil || b.Restricts(d.Intents) == 0 {
			continue
		}
		for _, p := range intent.Resolve(b, d.Intents, d.Namespaces, intent.Options{OperatorNamespace: f.OperatorNamespace}).Policies {
			if p.Restricts() != 0 {
				all = append(all, p)
				found(p, o)
			}
		}
	}
	f.Siblings = all
	f.Divided = map[string]any{}
	for _, e := range engines {
		if d, ok := e.Engine.(intent.Divider); ok {
			f.Divided[e.Name()] = d.Divide(all, f)
		}
	}
	return f
}
