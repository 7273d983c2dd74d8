// SPDX-License-Identifier: Apache-2.0

package clusterfacts

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Enforcer reports whether something enforces NetworkPolicies.
type Enforcer struct {
	// Names lists the programs that enforce them.
	Names []string
	// Problem says why nothing enforces them, on some nodes or on all; empty where something does on all.
	Problem string
	// Off says that nothing enforces them on any node, because the program that could is switched off.
	Off bool
	// HidesNodes says why a network in a policy does not select the addresses of nodes, on some nodes or on all; empty where it does.
	HidesNodes string
}

// The ConfigMap of EKS that enables network policies, of the Amazon VPC CNI and of Auto Mode.
// https://docs.aws.amazon.com/eks/latest/userguide/auto-net-pol.html
const (
	cniConfigMap  = "amazon-vpc-cni"
	cniController = "enable-network-policy-controller"
	switchOnCNI   = `aws eks update-addon --addon-name vpc-cni --configuration-values '{"enableNetworkPolicy": "true"}'`
	switchOnNew   = "kubectl create configmap " + cniConfigMap + " -n kube-system --from-literal=" + cniController + "=true"
	switchOnOld   = "kubectl patch configmap " + cniConfigMap + ` -n kube-system --type=merge -p '{"data": {"` + cniController + `": "true"}}'`
)

// vpcCNI is the DaemonSet of the Amazon VPC CNI.
const vpcCNI = "aws-node"

// Cilium is the name of Cilium among those of an Enforcer.
const Cilium = "Cilium"

// The DaemonSet of Cilium, and the ConfigMap of its settings.
const (
	ciliumSet    = "cilium"
	ciliumConfig = "cilium-config"
)

// plugin is a network plugin that enforces NetworkPolicies.
type plugin struct {
	// set is the name of its DaemonSet, in one of networkNamespaces.
	set, name string
	// off says why it does not enforce although it runs, or nothing.
	off func(appsv1.DaemonSet) string
}

// plugins lists the plugins that are known, by the DaemonSet that runs on their nodes.
func plugins() []plugin {
	return []plugin{
		{set: vpcCNI, name: "Amazon VPC CNI", off: vpcCNIOff},
		{set: ciliumSet, name: Cilium},
		{set: "calico-node", name: "Calico"},
		{set: "canal", name: "Canal"},
		{set: "rke2-canal", name: "Canal"},
		{set: "kube-router", name: "kube-router", off: kubeRouterOff},
		{set: "antrea-agent", name: "Antrea"},
		{set: "weave-net", name: "Weave Net"},
		{set: "ovnkube-node", name: "OVN-Kubernetes"},
		{set: "kube-ovn-cni", name: "Kube-OVN"},
		{set: "azure-npm", name: "Azure Network Policy Manager"},
		{set: "anetd", name: "GKE Dataplane V2"},
		{set: "kindnet", name: "kindnet"},
		{set: "kube-network-policies", name: "kube-network-policies"},
	}
}

// windowsSets are the DaemonSets of plugins that enforce NetworkPolicies on nodes with Windows. The Amazon VPC CNI does not.
// https://docs.aws.amazon.com/eks/latest/userguide/cni-network-policy.html
var windowsSets = []string{"calico-node-windows", "antrea-agent-windows"}

// vpcCNIOff reads the argument of the node agent, which does nothing without it.
func vpcCNIOff(d appsv1.DaemonSet) string {
	for _, a := range argumentsOf(d) {
		if name, value, _ := strings.Cut(strings.TrimLeft(a, "-"), "="); name == "enable-network-policy" && (value == "true" || value == "") {
			return ""
		}
	}
	return "the Amazon VPC CNI runs with network policies off: run " + switchOnCNI
}

func kubeRouterOff(d appsv1.DaemonSet) string {
	if slices.Contains(argumentsOf(d), "--run-firewall=false") {
		return "kube-router runs with --run-firewall=false: set it to true"
	}
	return ""
}

// enforcer finds the programs that enforce NetworkPolicies on the nodes of EKS Auto Mode and on the others; on those of AWS Fargate there
// are none. Denied is why nodes or DaemonSets could not be listed.
// https://docs.aws.amazon.com/eks/latest/userguide/cni-network-policy.html
func (r Reader) enforcer(ctx context.Context, nodes Nodes, sets []appsv1.DaemonSet, denied error) (Enforcer, error) {
	if r.Enforcer != "" {
		return Enforcer{Names: []string{r.Enforcer}}, nil
	}
	if denied != nil {
		return Enforcer{Problem: "it is not known whether something enforces NetworkPolicies: " +
			strings.ReplaceAll(denied.Error(), "\n", "; ")}, nil
	}
	names, problem, err := r.autoMode(ctx, nodes)
	if err != nil {
		return Enforcer{}, err
	}
	out, problems, off := Enforcer{Names: names}, []string{problem}, true
	if nodes.takeDaemonSets() {
		names, problem, known, err := r.pluginOf(ctx, nodes, sets)
		if err != nil {
			return out, err
		}
		off = known
		if slices.Contains(names, Cilium) {
			if out.HidesNodes, err = r.hidesNodes(ctx, sets); err != nil {
				return out, err
			}
		}
		out.Names, problems = append(out.Names, names...), append(problems, problem)
	}
	if len(nodes.Fargate) > 0 {
		problems = append(problems, "nothing enforces them on nodes of AWS Fargate ("+someOf(nodes.Fargate)+
			"): run pods that intents select on other nodes")
	}
	names, problem = onWindows(nodes, sets)
	out.Names, problems = append(out.Names, names...), append(problems, problem)
	out.Off = off && len(out.Names) == 0
	out.Problem = problemOf(out.Names, problems)
	return out, nil
}

// problemOf joins the problems of the enforcement, with the names of the programs that do enforce; empty for no problem.
func problemOf(names, problems []string) string {
	text := strings.Join(slices.DeleteFunc(problems, func(p string) bool { return p == "" }), "; ")
	if len(names) > 0 && text != "" {
		return "only " + strings.Join(names, ", ") + " enforces NetworkPolicies, on its nodes: " + text
	}
	return text
}

// onWindows names the program that enforces NetworkPolicies on the nodes with Windows, if there are any, or says that nothing does.
func onWindows(nodes Nodes, sets []appsv1.DaemonSet) (names []string, problem string) {
	if len(nodes.Windows) == 0 {
		return nil, ""
	}
	for _, d := range sets {
		if slices.Contains(windowsSets, d.Name) && d.Status.NumberReady > 0 {
			return []string{d.Name}, ""
		}
	}
	return nil, "nothing known enforces them on nodes with Windows (" + someOf(nodes.Windows) +
		"): run pods that intents select on nodes with Linux"
}

// autoMode names EKS Auto Mode where it runs nodes, or is about to, and enforces NetworkPolicies on them, or says why it does not.
func (r Reader) autoMode(ctx context.Context, nodes Nodes) (names []string, problem string, err error) {
	if !nodes.MayBeAuto() {
		return nil, "", nil
	}
	switchOn, err := r.controllerSwitch(ctx)
	if err != nil {
		return nil, "", err
	}
	if switchOn == "" {
		return []string{"EKS Auto Mode"}, "", nil
	}
	return nil, "EKS Auto Mode runs with network policies off: run " + switchOn, nil
}

// controllerSwitch returns the command that switches on the network policy controller of EKS, or nothing where it is on. Without it the
// agents on nodes, of Auto Mode and of the Amazon VPC CNI, get no rules to enforce.
// https://docs.aws.amazon.com/eks/latest/userguide/cni-network-policy-configure.html
func (r Reader) controllerSwitch(ctx context.Context) (string, error) {
	m, err := r.configMap(ctx, AgentNamespace, cniConfigMap)
	switch {
	case err != nil:
		return "", err
	case m.Data[cniController] == "true":
		return "", nil
	case m.Name == "":
		return switchOnNew, nil
	default:
		return switchOnOld, nil
	}
}

// pluginOf names the plugins that enforce, or says why there are none; known is true when one was found that is switched off.
func (r Reader) pluginOf(ctx context.Context, nodes Nodes, sets []appsv1.DaemonSet) (names []string, problem string, known bool,
	err error) {
	var running []appsv1.DaemonSet
	for _, p := range plugins() {
		for _, d := range sets {
			if d.Name != p.set {
				continue
			}
			why, err := r.whyOff(ctx, p, d, nodes)
			switch {
			case err != nil:
				return nil, "", false, err
			case why == "":
				names, running = append(names, p.name), append(running, d)
			case problem == "":
				problem, known = why, true
			}
		}
	}
	switch {
	case len(names) > 0:
		problem, err = r.uncovered(ctx, nodes, running)
		return slices.Compact(names), problem, false, err
	case problem == "":
		problem = "nothing found that enforces NetworkPolicies: install a network plugin that does, or, if one does that is not known, set --network-policy-enforcer to its name"
	}
	return nil, problem, known, nil
}

// uncovered names the nodes without a plugin that enforces: on these, none of the DaemonSets runs a pod, or only pods that have not been
// ready for unreadyFor, so that new policies and pods there have no effect. A node that has just joined, and an update of a DaemonSet, take
// less.
func (r Reader) uncovered(ctx context.Context, nodes Nodes, sets []appsv1.DaemonSet) (string, error) {
	missing := nodes.forPlugins()
	if len(missing) == 0 || !mayMiss(missing, sets) {
		return "", nil
	}
	var names []string
	for _, d := range sets {
		pods := &corev1.PodList{}
		err := r.Live.List(ctx, pods, client.InNamespace(d.Namespace), client.MatchingLabels(d.Spec.Selector.MatchLabels))
		if apierrors.IsForbidden(err) {
			return "", nil
		}
		if err != nil {
			return "", fmt.Errorf("listing pods of DaemonSet %s/%s: %w", d.Namespace, d.Name, err)
		}
		names = append(names, d.Namespace+"/"+d.Name)
		for _, p := range pods.Items {
			if isReady(p) || r.isRecent(unreadySince(p)) {
				missing = slices.DeleteFunc(missing, func(node string) bool { return node == p.Spec.NodeName })
			}
		}
	}
	missing = slices.DeleteFunc(missing, func(node string) bool { return r.isRecent(nodes.joined[node]) })
	if len(missing) == 0 {
		return "", nil
	}
	return fmt.Sprintf("no pod of DaemonSet %s is ready on %s: see kubectl get pods -n %s -o wide", strings.Join(names, " or "),
		someOf(missing), sets[0].Namespace), nil
}

// mayMiss reports whether DaemonSets may leave one of the nodes out, by the counts in their status. It spares a list of all their pods.
func mayMiss(nodes []string, sets []appsv1.DaemonSet) bool {
	scheduled, unready := 0, false
	for _, d := range sets {
		if d.Spec.Selector == nil {
			return false
		}
		scheduled += int(d.Status.DesiredNumberScheduled)
		unready = unready || d.Status.NumberReady < d.Status.DesiredNumberScheduled
	}
	return unready || scheduled < len(nodes)
}

// isRecent reports whether something began less than unreadyFor ago.
func (r Reader) isRecent(since time.Time) bool {
	return r.Clock != nil && r.Clock.Now().Sub(since) < unreadyFor
}

// unreadyFor limits how long the pod of a network plugin may be unready while its node still counts as covered.
const unreadyFor = 3 * time.Minute

// unreadySince is the time since which a pod has not been ready.
func unreadySince(p corev1.Pod) time.Time {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.LastTransitionTime.Time
		}
	}
	return p.CreationTimestamp.Time
}

// whyOff says why a plugin does not enforce, or nothing.
func (r Reader) whyOff(ctx context.Context, p plugin, d appsv1.DaemonSet, nodes Nodes) (string, error) {
	why := notRunning(d, nodes)
	switch {
	case why != "":
		return why, nil
	case p.off != nil && p.off(d) != "":
		return p.off(d), nil
	case p.set == vpcCNI:
		switchOn, err := r.controllerSwitch(ctx)
		if switchOn == "" || err != nil {
			return "", err
		}
		return "the agents of the Amazon VPC CNI run with network policies on, and the controller of EKS that gives them the rules is off: run " +
			switchOnCNI +
			", or, where the plugin is no add-on of EKS, " + switchOn, nil
	case p.set == ciliumSet:
		never, err := r.holds(ctx, d.Namespace, ciliumConfig, "enable-policy", "never")
		if never {
			return "Cilium runs with enable-policy: never: set it to default", err
		}
		return "", err
	}
	return "", nil
}

// notRunning says that no pod of a DaemonSet is ready, or nothing. Where another plugin takes its place, a DaemonSet may stay and select
// no node, as aws-node does when Cilium is installed. Without nodes nothing runs yet.
// https://docs.cilium.io/en/stable/installation/k8s-install-helm/
func notRunning(d appsv1.DaemonSet, nodes Nodes) string {
	what := "no pod of DaemonSet %s/%s, which enforces NetworkPolicies, is ready"
	switch {
	case d.Status.NumberReady > 0, d.Status.DesiredNumberScheduled == 0 && len(nodes.forPlugins()) == 0:
		return ""
	case d.Status.DesiredNumberScheduled == 0:
		what = "DaemonSet %s/%s, which enforces NetworkPolicies, selects none of the nodes"
	}
	return fmt.Sprintf(what+": see kubectl describe daemonset %[2]s -n %[1]s", d.Namespace, d.Name)
}

// hidesNodes says that Cilium runs as it does by default: it takes the addresses of nodes, link-local ones among them, for entities of
// their own, which no network in a policy selects.
// https://docs.cilium.io/en/stable/security/policy/layer3/#selecting-nodes-with-cidr-ipblock, cilium/cilium#16308, cilium/cilium#34387
func (r Reader) hidesNodes(ctx context.Context, sets []appsv1.DaemonSet) (string, error) {
	i := slices.IndexFunc(sets, func(d appsv1.DaemonSet) bool { return d.Name == ciliumSet })
	if i < 0 {
		return "", nil
	}
	selects, err := r.holds(ctx, sets[i].Namespace, ciliumConfig, "policy-cidr-match-mode", "nodes")
	if selects || err != nil {
		return "", err
	}
	return fmt.Sprintf("networks in NetworkPolicies do not select the addresses of nodes in Cilium: set policy-cidr-match-mode: nodes in ConfigMap %s/%s and restart its pods", sets[i].Namespace, ciliumConfig), nil
}

// holds reports whether an entry of a ConfigMap has a value.
func (r Reader) holds(ctx context.Context, namespace, name, key, value string) (bool, error) {
	m, err := r.configMap(ctx, namespace, name)
	return err == nil && m.Data[key] == value, err
}

// configMap reads a ConfigMap; one that does not exist, or may not be read, is empty.
func (r Reader) configMap(ctx context.Context, namespace, name string) (*corev1.ConfigMap, error) {
	m := &corev1.ConfigMap{}
	err := r.Live.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, m)
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsForbidden(err) {
		return nil, fmt.Errorf("reading ConfigMap %s/%s: %w", namespace, name, err)
	}
	return m, nil
}
