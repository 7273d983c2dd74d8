// SPDX-License-Identifier: Apache-2.0

package clusterfacts

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
)

// kubeArmor is the name of KubeArmor among those of policy engines.
const kubeArmor = "KubeArmor"

// noKubeArmor says that KubeArmor does not run, and gives the remedy.
const noKubeArmor = "no agent of KubeArmor is ready, without which its policies hold nothing: see kubectl get daemonsets -A -l " +
	labelAgent + "=" + agentOfKubeArmor +
	", install KubeArmor again, or remove the kinds that it left"

// The label of KubeArmor's agents, which are pods of DaemonSets.
// https://docs.kubearmor.io/kubearmor/quick-links/deployment_guide
const (
	labelAgent       = "kubearmor-app"
	agentOfKubeArmor = "kubearmor"
)

// kubeArmorNamespaces are patterns of the namespaces of KubeArmor, by its documentation. Its webhook leads to any other one.
var kubeArmorNamespaces = []string{"kubearmor", "kubearmor-*", "kube-*"}

// kubeArmorHooks begins the names of KubeArmor's webhook configurations.
const kubeArmorHooks = "kubearmor-"

// webhookEngines are the policy engines that register webhooks while they run, and remove them when they are uninstalled.
var webhookEngines = []struct {
	name string
	// prefix begins the names of their webhook configurations.
	prefix  string
	missing string
}{
	// https://github.com/kyverno/kyverno/blob/main/pkg/config/config.go
	{"Kyverno", "kyverno-", "no webhook of Kyverno leads to a Service that exists, so that nothing applies its policies: see kubectl get validatingwebhookconfigurations, install Kyverno again, or remove the kinds that it left"},
	// https://istio.io/latest/docs/ops/configuration/mesh/webhook/
	{"Istio", "istio", "no webhook of Istio's control plane leads to a Service that exists, so that no proxy gets its policies: see kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations, install Istio again, or remove the kinds that it left"},
}

// webhook names the Service that the API server calls for a webhook configuration.
type webhook struct {
	// configuration is the name of its configuration. Only administrators create those.
	configuration string
	// service is nil for a webhook with a URL.
	service *types.NamespacedName
}

// enginesNotRunning returns the policy engines without a running program, each with the reason and the remedy. The kinds of an engine stay
// in a cluster when it is uninstalled, and objects of them hold nothing.
func (r Reader) enginesNotRunning(ctx context.Context, nodes Nodes, sets daemonSets) (map[string]string, error) {
	hooks, err := r.webhooks(ctx)
	if apierrors.IsForbidden(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	if sets.listed && !runsKubeArmor(sets.kubeArmor, hooks, nodes) {
		out[kubeArmor] = noKubeArmor
	}
	for _, e := range webhookEngines {
		runs, err := r.leadToService(ctx, hooks, e.prefix)
		if err != nil {
			return nil, err
		}
		if !runs {
			out[e.name] = e.missing
		}
	}
	return out, nil
}

// isKubeArmor reports whether the pods of a DaemonSet have the label of KubeArmor's agents.
func isKubeArmor(d appsv1.DaemonSet) bool {
	return d.Spec.Template.Labels[labelAgent] == agentOfKubeArmor
}

// runsKubeArmor reports whether one of the DaemonSets of KubeArmor's agents has a ready pod. DaemonSets in a namespace where an
// administrator did not install it do not count.
func runsKubeArmor(sets []appsv1.DaemonSet, hooks []webhook, nodes Nodes) bool {
	return slices.ContainsFunc(sets, func(d appsv1.DaemonSet) bool {
		known := slices.ContainsFunc(kubeArmorNamespaces, func(pattern string) bool {
			ok, err := path.Match(pattern, d.Namespace)
			return ok && err == nil
		}) || slices.ContainsFunc(hooks, func(h webhook) bool {
			return strings.HasPrefix(h.configuration, kubeArmorHooks) && h.service != nil && h.service.Namespace == d.Namespace
		})
		return known && notRunning(d, nodes) == ""
	})
}

// leadToService reports whether one of the webhooks, of configurations that begin with a prefix, leads to a Service that exists, or to a
// URL.
func (r Reader) leadToService(ctx context.Context, hooks []webhook, prefix string) (bool, error) {
	for _, h := range hooks {
		if !strings.HasPrefix(h.configuration, prefix) {
			continue
		}
		if h.service == nil {
			return true, nil
		}
		err := r.Live.Get(ctx, *h.service, &corev1.Service{})
		if err == nil || apierrors.IsForbidden(err) {
			return true, nil
		}
		if !apierrors.IsNotFound(err) {
			return false, fmt.Errorf("reading Service %s of webhook configuration %s: %w", h.service, h.configuration, err)
		}
	}
	return false, nil
}

// webhooks lists the webhooks of the cluster.
func (r Reader) webhooks(ctx context.Context) ([]webhook, error) {
	validating, mutating := &admissionregistrationv1.ValidatingWebhookConfigurationList{},
		&admissionregistrationv1.MutatingWebhookConfigurationList{}
	if err := r.Live.List(ctx, validating); err != nil {
		return nil, fmt.Errorf("listing ValidatingWebhookConfigurations: %w", err)
	}
	if err := r.Live.List(ctx, mutating); err != nil {
		return nil, fmt.Errorf("listing MutatingWebhookConfigurations: %w", err)
	}
	var out []webhook
	for _, c := range validating.Items {
		for _, w := range c.Webhooks {
			out = append(out, webhookOf(c.Name, w.ClientConfig))
		}
	}
	for _, c := range mutating.Items {
		for _, w := range c.Webhooks {
			out = append(out, webhookOf(c.Name, w.ClientConfig))
		}
	}
	return out, nil
}

func webhookOf(configuration string, c admissionregistrationv1.WebhookClientConfig) webhook {
	if c.Service == nil {
		return webhook{configuration: configuration}
	}
	return webhook{configuration: configuration, service: &types.NamespacedName{Namespace: c.Service.Namespace, Name: c.Service.Name}}
}
