// SPDX-License-Identifier: Apache-2.0

package scan

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/internal/albcontroller"
	"github.com/nexus-operator/nexus-operator/internal/check"
	"github.com/nexus-operator/nexus-operator/internal/clusterfacts"
	"github.com/nexus-operator/nexus-operator/internal/intent"
)

// The versions of Kubernetes that the operator needs, and that its admission policy needs.
var (
	leastVersion  = version.MajorMinor(1, 29)
	policyVersion = version.MajorMinor(1, 30)
)

// scanCluster looks at the version of the API server.
func (x *scanner) scanCluster(context.Context) error {
	d, err := discovery.NewDiscoveryClientForConfig(x.config)
	if err != nil {
		return err
	}
	info, err := d.ServerVersion()
	if err != nil {
		return err
	}
	const title = "Kubernetes is of version 1.29 or later"
	v, err := version.ParseGeneric(info.GitVersion)
	switch {
	case err != nil:
		return err
	case v.LessThan(leastVersion):
		x.add(check.Fail(title, info.GitVersion, "upgrade the cluster"))
	case v.LessThan(policyVersion):
		x.add(check.Warn(title, info.GitVersion+" has no ValidatingAdmissionPolicy, so that RBAC alone limits what the operator writes",
			"install with admissionPolicy.enabled=false, or upgrade the cluster to 1.30"))
	default:
		x.add(check.Pass(title, info.GitVersion))
	}
	return nil
}

// The resources that the operator's pod requests by default, and the architectures of its image.
var (
	operatorCPU    = resource.MustParse("100m")
	operatorMemory = resource.MustParse("128Mi")
	operatorArchs  = []string{"amd64", "arm64"}
)

// scanNodes looks for nodes that can run the operator and workloads.
func (x *scanner) scanNodes(ctx context.Context) error {
	nodes, pods := &corev1.NodeList{}, &corev1.PodList{}
	if err := x.client.List(ctx, nodes); err != nil {
		return err
	}
	if err := x.client.List(ctx, pods); err != nil {
		return err
	}
	ready := slices.DeleteFunc(slices.Clone(nodes.Items), func(n corev1.Node) bool { return !takesPods(n) })
	if title := "nodes are ready and take pods"; len(ready) == 0 {
		x.add(check.Fail(title, fmt.Sprintf("none of %d nodes is", len(nodes.Items)), "add nodes, or see kubectl describe nodes"))
		return nil
	} else {
		x.add(check.Pass(title, fmt.Sprintf("%d of %d nodes", len(ready), len(nodes.Items))))
	}
	fits := slices.DeleteFunc(ready, func(n corev1.Node) bool {
		return !slices.Contains(operatorArchs, n.Labels[corev1.LabelArchStable]) || !hasRoom(n, pods.Items)
	})
	const title = "a node has room for the operator"
	wanted := fmt.Sprintf("%s of processor, %s of memory and one pod, on %s", &operatorCPU, &operatorMemory,
		strings.Join(operatorArchs, " or "))
	if len(fits) == 0 {
		x.add(check.Fail(title, "no node has left "+wanted, "add nodes, or remove workloads"))
		return nil
	}
	x.add(check.Pass(title, fmt.Sprintf("%d nodes have left %s", len(fits), wanted)))
	return nil
}

// takesPods reports whether the scheduler gives a node pods without tolerations.
func takesPods(n corev1.Node) bool {
	isReady := slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
	return isReady && !n.Spec.Unschedulable &&
		!slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Effect != corev1.TaintEffectPreferNoSchedule })
}

// hasRoom reports whether the requests of the operator's pod fit beside those of the pods of a node.
func hasRoom(n corev1.Node, pods []corev1.Pod) bool {
	cpu, memory, count := n.Status.Allocatable.Cpu().DeepCopy(), n.Status.Allocatable.Memory().DeepCopy(), n.Status.Allocatable.Pods().Value()
	for _, p := range pods {
		if p.Spec.NodeName != n.Name || p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
			continue
		}
		count--
		for _, c := range p.Spec.Containers {
			cpu.Sub(*c.Resources.Requests.Cpu())
			memory.Sub(*c.Resources.Requests.Memory())
		}
	}
	return count > 0 && cpu.Cmp(operatorCPU) >= 0 && memory.Cmp(operatorMemory) >= 0
}

// scanIngress looks for the controller that makes load balancers of Ingresses.
func (x *scanner) scanIngress(ctx context.Context) error {
	const title = "a load balancer controller serves Ingresses"
	classes := &networkingv1.IngressClassList{}
	if err := x.client.List(ctx, classes); err != nil {
		return err
	}
	found := map[string]string{}
	for _, c := range classes.Items {
		found[c.Spec.Controller] = c.Name
	}
	if name, ok := found[albcontroller.AutoModeController]; ok {
		x.add(check.Pass(title, "EKS Auto Mode, IngressClass "+name))
		return nil
	}
	name, ok := found[albcontroller.IngressController]
	fix := "nexusctl install-alb-controller"
	if auto, err := clusterfacts.HasAutoMode(ctx, x.client, x.autoMode); err != nil {
		return err
	} else if auto && ok { // the class of another controller, which cannot be changed
		fix = "delete IngressClass " + name + " and " + albcontroller.AutoModeRemedy
	} else if auto {
		fix = albcontroller.AutoModeRemedy
	}
	if !ok {
		x.add(check.Warn(title, "no IngressClass is of controller "+albcontroller.IngressController+" or "+albcontroller.AutoModeController+
			"; capabilities with an Ingress get no address", fix))
		return nil
	}
	deployments := &appsv1.DeploymentList{}
	if err := x.client.List(ctx, deployments, client.MatchingLabels{"app.kubernetes.io/name": albcontroller.Release}); err != nil {
		return err
	}
	if !slices.ContainsFunc(deployments.Items, func(d appsv1.Deployment) bool { return d.Status.ReadyReplicas > 0 }) {
		x.add(check.Warn(title, "IngressClass "+name+" exists, and no pod of the AWS Load Balancer Controller is ready",
			"kubectl describe deployment -A -l app.kubernetes.io/name=aws-load-balancer-controller; or "+fix))
		return nil
	}
	x.add(check.Pass(title, "IngressClass "+name))
	return nil
}

// scanEngines lists the policy engines with kinds that the API server serves.
func (x *scanner) scanEngines(context.Context) error {
	var present, absent []string
	for _, e := range x.Engines() {
		served := true
		for _, k := range intent.VariantOf(e, x.serves).Requires() {
			_, err := x.client.RESTMapper().RESTMapping(k.GroupKind(), k.Version)
			if err != nil && !meta.IsNoMatchError(err) {
				return err
			}
			served = served && err == nil
		}
		if served {
			present = append(present, e.Name())
		} else {
			absent = append(absent, e.Name())
		}
	}
	const title = "policy engines for security intents are present"
	if len(absent) > 0 {
		x.add(check.Warn(title, "present: "+strings.Join(present, ", ")+"; absent: "+strings.Join(absent, ", ")+
			"; intents are enforced as far as the engines that are present can", "install those that your intents need"))
		return nil
	}
	x.add(check.Pass(title, strings.Join(present, ", ")))
	return nil
}

// serves reports whether the API server serves a kind; a failure to find out counts as no.
func (x *scanner) serves(k schema.GroupVersionKind) bool {
	_, err := x.client.RESTMapper().RESTMapping(k.GroupKind(), k.Version)
	return err == nil
}

// installed lists the resources that an installation creates, by API group: those of the whole cluster, and those of a namespace.
var installed = map[string]struct{ clusterWide, namespaced []string }{
	"":                             {[]string{"namespaces"}, []string{"serviceaccounts", "services", "configmaps"}},
	"apps":                         {nil, []string{"deployments"}},
	"apiextensions.k8s.io":         {[]string{"customresourcedefinitions"}, nil},
	"rbac.authorization.k8s.io":    {[]string{"clusterroles", "clusterrolebindings"}, []string{"roles", "rolebindings"}},
	"admissionregistration.k8s.io": {[]string{"validatingadmissionpolicies", "validatingadmissionpolicybindings"}, nil},
}

// scanAccess asks the API server whether the caller may install the operator.
func (x *scanner) scanAccess(ctx context.Context) error {
	const title = "you may install the operator"
	var missing []string
	for _, group := range slices.Sorted(maps.Keys(installed)) {
		for namespace, names := range map[string][]string{"": installed[group].clusterWide,
			x.NamespaceOfOperator(): installed[group].namespaced} {
			lacking, err := x.lacking(ctx, authorizationv1.ResourceAttributes{Group: group, Namespace: namespace}, names)
			if err != nil {
				return err
			}
			missing = append(missing, lacking...)
		}
	}
	slices.Sort(missing)
	if len(missing) > 0 {
		x.add(check.Fail(title, "you lack the rights to "+strings.Join(missing, ", "),
			"ask for them, or let an administrator of the cluster install it"))
		return nil
	}
	x.add(check.Pass(title, "the rights to create and change what the installation consists of"))
	return nil
}

// lacking lists the resources of a group that the caller may not create or change.
func (x *scanner) lacking(ctx context.Context, where authorizationv1.ResourceAttributes, names []string) ([]string, error) {
	var out []string
	for _, name := range names {
		for _, verb := range []string{"create", "patch"} {
			asked := where
			asked.Resource, asked.Verb = name, verb
			review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &asked}}
			if err := x.client.Create(ctx, review); err != nil {
				return nil, err
			}
			if !review.Status.Allowed {
				out = append(out, verb+" "+strings.TrimSuffix(name+"."+where.Group, "."))
			}
		}
	}
	return out, nil
}
