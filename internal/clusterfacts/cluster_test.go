// SPDX-License-Identifier: Apache-2.0

package clusterfacts_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/nexus-operator/nexus-operator/internal/clusterfacts"
)

const dnsName = "kube-system/kube-dns"

func service(namespace, name string, selector map[string]string, ips []string, ports ...corev1.ServicePort) *corev1.Service {
	s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	s.Spec.Selector, s.Spec.Ports = selector, ports
	if len(ips) > 0 {
		s.Spec.ClusterIP, s.Spec.ClusterIPs = ips[0], ips
	}
	return s
}

func port(name string, target intstr.IntOrString) corev1.ServicePort {
	return corev1.ServicePort{Name: name, Port: 53, TargetPort: target}
}

var (
	dnsPods    = map[string]string{"app": "dns"}
	kubernetes = service("default", "kubernetes", nil, []string{"10.100.0.1"})
	kubeDNS    = service("kube-system", "kube-dns", dnsPods, []string{"10.100.0.10"}, port("dns", intstr.FromInt32(53)))
)

func endpoints(address string, ports ...discoveryv1.EndpointPort) *discoveryv1.EndpointSlice {
	return &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "kube-dns-x",
			Labels: map[string]string{discoveryv1.LabelServiceName: "kube-dns"}},
		Endpoints: []discoveryv1.Endpoint{{Addresses: []string{address}}}, Ports: ports,
	}
}

func daemonSet(name string, args ...string) *appsv1.DaemonSet {
	d := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: name}}
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "main"}, {Name: "agent", Args: args}}
	d.Spec.Template.Spec.HostNetwork = true
	d.Status.DesiredNumberScheduled, d.Status.NumberReady = 2, 2
	return d
}

func inNamespace(namespace string, d *appsv1.DaemonSet) *appsv1.DaemonSet {
	d.Namespace = namespace
	return d
}

// saysAutoMode is EKS in a cluster of Auto Mode.
func saysAutoMode(context.Context) bool { return true }

func read(t *testing.T, r clusterfacts.Reader, objects ...client.Object) clusterfacts.Cluster {
	t.Helper()
	if r.Live == nil {
		r.Live = apiWith(objects...)
	}
	if r.DNSService == "" {
		r.DNSService = dnsName
	}
	got, err := r.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestRead_LocatesTheClusterDNS(t *testing.T) {
	named, number := port("dns-tcp", intstr.FromString("dns")), int32(5353)
	host := podOf("dns", "a", corev1.ConditionTrue)
	host.Spec.HostNetwork, host.Status.PodIPs = true, []corev1.PodIP{{IP: "192.0.2.7"}}
	auto := node("auto", "auto")
	enabled := clusterfacts.Reader{AutoMode: saysAutoMode}
	renamed, redirected := daemonSet("dns-cache"), daemonSet("node-local-dns")
	renamed.Spec.Template.Spec.Containers[0].Image,
		redirected.Spec.Template.Spec.HostNetwork = "registry.k8s.io/dns/k8s-dns-node-cache:1.26.4", false
	for name, tc := range map[string]struct {
		reader    clusterfacts.Reader
		objects   []client.Object
		pods      bool
		ports     []int32
		addresses string
		problem   string
	}{
		"its pods": {objects: []client.Object{kubernetes, kubeDNS}, pods: true, ports: []int32{53}},
		"pods on another port": {objects: []client.Object{service("kube-system", "kube-dns", dnsPods, nil,
			port("u", intstr.FromInt32(1053)), port("t", intstr.FromInt32(1053)))}, pods: true, ports: []int32{1053}},
		"ports by flag": {reader: clusterfacts.Reader{DNSPorts: []int{5353}},
			objects: []client.Object{service("kube-system", "kube-dns", dnsPods, nil, named)}, pods: true, ports: []int32{5353}},
		"a named port with endpoints": {objects: []client.Object{service("kube-system", "kube-dns", dnsPods, nil, named),
			endpoints("10.0.9.9", discoveryv1.EndpointPort{Name: &named.Name, Port: &number})}, pods: true, ports: []int32{5353}},
		"a named port without endpoints": {objects: []client.Object{service("kube-system", "kube-dns", dnsPods, nil, named)}, pods: true,
			problem: "named target port dns"},
		"pods on the network of their node": {objects: []client.Object{kubeDNS, host}, pods: true, ports: []int32{53}, addresses: "192.0.2.7"},
		"no Service":                        {objects: []client.Object{kubernetes, node("a", "")}, problem: "set --cluster-dns-service"},
		"no Service on Auto Mode":           {objects: []client.Object{kubernetes, auto}, addresses: "10.100.0.10"},
		"no Service on Auto Mode with IPv6": {objects: []client.Object{service("default", "kubernetes", nil, []string{"fd12:3456:789a::1"}),
			auto}, addresses: "fd12:3456:789a::a"},
		"no Service on a dual stack": {objects: []client.Object{service("default", "kubernetes", nil, []string{"172.20.0.1", "fd12::1"}),
			auto}, addresses: "172.20.0.10 fd12::a"},
		"no Service and both sorts of node": {objects: []client.Object{kubernetes, auto, node("b", "")}, addresses: "10.100.0.10",
			problem: "CoreDNS for node b"},
		"a Service on Auto Mode": {objects: []client.Object{kubernetes, kubeDNS, auto}, pods: true, ports: []int32{53},
			addresses: "10.100.0.10"},
		"both sorts of node": {objects: []client.Object{kubernetes, kubeDNS, auto, node("b", "")}, pods: true, ports: []int32{53},
			addresses: "10.100.0.10"},
		"NodeLocal DNSCache": {objects: []client.Object{kubeDNS, daemonSet("node-local-dns")}, pods: true, ports: []int32{53},
			addresses: "10.100.0.10 169.254.20.10"},
		"NodeLocal DNSCache at its own": {objects: []client.Object{kubeDNS,
			daemonSet("nodelocaldns", "-localip", "169.254.25.10,10.100.0.10", "-conf", "x")}, pods: true, ports: []int32{53},
			addresses: "10.100.0.10 169.254.25.10"},
		"NodeLocal DNSCache of a tenant": {objects: []client.Object{kubeDNS,
			inNamespace("team-a", daemonSet("node-local-dns", "-localip", "203.0.113.66"))}, pods: true, ports: []int32{53}},
		"EKS says Auto Mode, no node": {reader: enabled, objects: []client.Object{kubernetes}, addresses: "10.100.0.10"},
		"EKS says Auto Mode, IPv6, no node": {reader: enabled,
			objects: []client.Object{service("default", "kubernetes", nil, []string{"fd12::1"})}, addresses: "fd12::a"},
		"EKS says Auto Mode, other nodes": {reader: enabled, objects: []client.Object{kubernetes, node("b", "")}, addresses: "10.100.0.10",
			problem: "CoreDNS for node b"},
		"EKS says Auto Mode beside CoreDNS": {reader: enabled, objects: []client.Object{kubernetes, kubeDNS, node("b", "")}, pods: true,
			ports: []int32{53}, addresses: "10.100.0.10"},
		"no node": {objects: []client.Object{kubernetes}, problem: "set --cluster-dns-service"},
		"NodeLocal DNSCache by its image": {objects: []client.Object{kubeDNS, renamed}, pods: true, ports: []int32{53},
			addresses: "10.100.0.10 169.254.20.10"},
		"NodeLocal DNSCache in pods": {objects: []client.Object{kubeDNS, redirected}, pods: true, ports: []int32{53},
			addresses: "10.100.0.10 169.254.20.10", problem: "hostNetwork: true"},
		"two of NodeLocal DNSCache": {objects: []client.Object{kubeDNS, daemonSet("node-local-dns"),
			inNamespace("kube-dns", daemonSet("nodelocaldns", "-localip=169.254.25.10"))}, pods: true, ports: []int32{53},
			addresses: "10.100.0.10 169.254.20.10 169.254.25.10"},
		"NodeLocal DNSCache at a variable": {objects: []client.Object{kubeDNS, daemonSet("node-local-dns", "-localip", "$(LOCAL_DNS)")},
			pods: true, ports: []int32{53}, addresses: "10.100.0.10", problem: "argument -localip"},
		"a Service without pods": {objects: []client.Object{service("kube-system", "kube-dns", nil, []string{"10.100.0.10"}),
			endpoints("192.0.2.53")}, addresses: "10.100.0.10 192.0.2.53"},
		"a Service without anything": {objects: []client.Object{service("kube-system", "kube-dns", nil, []string{"10.100.0.10"})},
			problem: "has no endpoints"},
	} {
		got := read(t, tc.reader, tc.objects...).DNS
		addresses := strings.Trim(fmt.Sprint(got.Addresses), "[]")
		if (got.Namespace == "kube-system") != tc.pods || !slices.Equal(got.Ports, tc.ports) || addresses != tc.addresses {
			t.Errorf("%s: %+v", name, got)
		}
		if (tc.problem == "") != (got.Problem == "") || !strings.Contains(got.Problem, tc.problem) {
			t.Errorf("%s: problem %q", name, got.Problem)
		}
	}
}

func TestRead_TellsAddressesOfNodesThatPoliciesMiss(t *testing.T) {
	host := podOf("dns", "a", corev1.ConditionTrue)
	host.Spec.HostNetwork, host.Status.PodIPs = true, []corev1.PodIP{{IP: "192.0.2.7"}}
	config := func(value string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "cilium-config"},
			Data: map[string]string{"policy-cidr-match-mode": value}}
	}
	cilium, gone, cached := daemonSet("cilium"), daemonSet("cilium"), daemonSet("node-local-dns")
	gone.Status = appsv1.DaemonSetStatus{}
	for name, tc := range map[string]struct {
		objects []client.Object
		onNodes string
		hidden  bool
	}{
		"pods":                               {[]client.Object{daemonSet("calico-node")}, "", false},
		"NodeLocal DNSCache":                 {[]client.Object{daemonSet("calico-node"), cached}, "169.254.20.10", false},
		"Cilium":                             {[]client.Object{cilium, cached}, "169.254.20.10", true},
		"Cilium, pods on the nodes' network": {[]client.Object{cilium, host, config("")}, "192.0.2.7", true},
		"Cilium that runs nowhere":           {[]client.Object{gone, daemonSet("calico-node"), cached}, "169.254.20.10", false},
		"Cilium that selects nodes":          {[]client.Object{cilium, cached, config("nodes")}, "169.254.20.10", false},
	} {
		got := read(t, clusterfacts.Reader{}, append(tc.objects, kubernetes, kubeDNS, node("a", ""))...)
		if onNodes := strings.Trim(fmt.Sprint(got.DNS.OnNodes), "[]"); onNodes != tc.onNodes || (got.Enforcer.HidesNodes != "") != tc.hidden ||
			got.Enforcer.Problem != "" {
			t.Errorf("%s: %q, %+v", name, onNodes, got.Enforcer)
		}
	}
}

func TestRead_FindsWhatEnforcesNetworkPolicies(t *testing.T) {
	config := func(name, key, value string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: name}, Data: map[string]string{key: value}}
	}
	on := config("amazon-vpc-cni", "enable-network-policy-controller", "true")
	cni, cniOff := daemonSet("aws-node", "--enable-network-policy=true"), daemonSet("aws-node", "--enable-network-policy=false")
	broken := daemonSet("calico-node")
	broken.Status.NumberReady = 0
	auto, other, fargate := node("auto", "auto"), node("b", ""), node("f", "fargate")
	windows, partly, noon := node("w", ""), daemonSet("calico-node"), time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	windows.Labels["kubernetes.io/os"] = "windows"
	partly.Spec.Selector, partly.Status.NumberReady = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "calico"}}, 1
	onNodes := func(name string, scheduled int32) *appsv1.DaemonSet {
		d := daemonSet(name)
		d.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
		d.Status.DesiredNumberScheduled, d.Status.NumberReady = scheduled, scheduled
		return d
	}
	left := daemonSet("aws-node", "--enable-network-policy=true")
	left.Status = appsv1.DaemonSetStatus{}
	another, young, simulated := node("c", ""), node("c", ""), node("s", "")
	young.CreationTimestamp = metav1.NewTime(noon.Add(-time.Minute))
	simulated.Annotations = map[string]string{"kwok.x-k8s.io/node": "fake"}
	pending := podOf("calico", "b", corev1.ConditionFalse)
	pending.Spec.NodeName = ""
	waiting, joined := podOf("calico", "b", corev1.ConditionFalse), podOf("calico", "b", corev1.ConditionFalse)
	waiting.Status.Conditions[0].LastTransitionTime = metav1.NewTime(noon.Add(-time.Hour))
	joined.Status.Conditions[0].LastTransitionTime = metav1.NewTime(noon.Add(-time.Minute))
	for name, tc := range map[string]struct {
		objects []client.Object
		names   string
		problem string
		off     bool
	}{
		"nothing":                        {[]client.Object{other}, "", "nothing found that enforces", false},
		"VPC CNI":                        {[]client.Object{other, cni, on}, "Amazon VPC CNI", "", false},
		"VPC CNI without its controller": {[]client.Object{other, cni}, "", "kubectl create configmap amazon-vpc-cni", true},
		"VPC CNI, its controller off": {[]client.Object{other, cni, config("amazon-vpc-cni", "enable-network-policy-controller", "false")}, "",
			"kubectl patch configmap amazon-vpc-cni", true},
		"Auto Mode after the VPC CNI": {[]client.Object{auto, config("amazon-vpc-cni", "enable-windows-ipam", "false")}, "",
			"kubectl patch configmap amazon-vpc-cni", true},
		"VPC CNI switched off":      {[]client.Object{other, cniOff}, "", "enableNetworkPolicy", true},
		"VPC CNI beside Calico":     {[]client.Object{other, cniOff, daemonSet("calico-node")}, "Calico", "", false},
		"Calico without ready pods": {[]client.Object{other, broken}, "", "no pod of DaemonSet kube-system/calico-node", true},
		"Cilium":                    {[]client.Object{other, daemonSet("cilium")}, "Cilium", "", false},
		"Calico of its operator":    {[]client.Object{other, inNamespace("calico-system", daemonSet("calico-node"))}, "Calico", "", false},
		"Cilium of a tenant": {[]client.Object{other, inNamespace("team-a", daemonSet("cilium"))}, "", "nothing found that enforces",
			false},
		"Cilium that enforces nothing": {[]client.Object{other, daemonSet("cilium"), config("cilium-config", "enable-policy", "never")}, "",
			"enable-policy", true},
		"kube-router without firewall": {[]client.Object{other, daemonSet("kube-router", "--run-firewall=false")}, "", "--run-firewall", true},
		"Auto Mode":                    {[]client.Object{auto, on}, "EKS Auto Mode", "", false},
		"Auto Mode switched off":       {[]client.Object{auto}, "", "kubectl create configmap amazon-vpc-cni", true},
		"both sorts":                   {[]client.Object{auto, other, on, cni}, "EKS Auto Mode Amazon VPC CNI", "", false},
		"both sorts, Auto Mode alone":  {[]client.Object{auto, other, on, cniOff}, "EKS Auto Mode", "only EKS Auto Mode enforces", false},
		"both sorts, the others alone": {[]client.Object{auto, other, daemonSet("calico-node")}, "Calico", "only Calico enforces", false},
		"AWS Fargate beside others": {[]client.Object{fargate, other, cni, on}, "Amazon VPC CNI",
			"only Amazon VPC CNI enforces NetworkPolicies, on its nodes: nothing enforces them on nodes of AWS Fargate (f)", false},
		"AWS Fargate beside Auto Mode": {[]client.Object{fargate, auto, on, cni}, "EKS Auto Mode", "on nodes of AWS Fargate", false},
		"Windows beside others": {[]client.Object{windows, other, cni, on}, "Amazon VPC CNI",
			"only Amazon VPC CNI enforces NetworkPolicies, on its nodes: nothing known enforces them on nodes with Windows (w)", false},
		"Windows with Calico": {[]client.Object{windows, other, daemonSet("calico-node"), daemonSet("calico-node-windows")},
			"Calico calico-node-windows", "", false},
		"a pod that is not ready": {[]client.Object{other, partly, waiting}, "Calico",
			"no pod of DaemonSet kube-system/calico-node is ready on b", false},
		"a pod of a node just joined": {[]client.Object{other, partly, joined}, "Calico", "", false},
		"a pod that no node took": {[]client.Object{other, partly, pending}, "Calico",
			"no pod of DaemonSet kube-system/calico-node is ready on b", false},
		"Calico on no node": {[]client.Object{other, onNodes("calico-node", 0)}, "",
			"kube-system/calico-node, which enforces NetworkPolicies, selects none of the nodes", true},
		"Calico before the first node": {[]client.Object{onNodes("calico-node", 0)}, "Calico", "", false},
		"Calico on simulated nodes":    {[]client.Object{simulated, onNodes("calico-node", 0)}, "Calico", "", false},
		"VPC CNI that Cilium replaced": {[]client.Object{other, left, on, onNodes("cilium", 1)}, "Cilium", "", false},
		"VPC CNI that left its nodes": {[]client.Object{other, left, on}, "",
			"kube-system/aws-node, which enforces NetworkPolicies, selects none of the nodes", true},
		"Cilium on one of two nodes": {[]client.Object{other, another, onNodes("cilium", 1), podOf("cilium", "b", corev1.ConditionTrue)},
			"Cilium", "no pod of DaemonSet kube-system/cilium is ready on c", false},
		"Cilium before a new node": {[]client.Object{other, young, onNodes("cilium", 1), podOf("cilium", "b", corev1.ConditionTrue)},
			"Cilium", "", false},
		"two plugins, one for each node": {[]client.Object{other, another, onNodes("cilium", 1), onNodes("antrea-agent", 1),
			podOf("cilium", "b", corev1.ConditionTrue), podOf("antrea-agent", "c", corev1.ConditionTrue)}, "Cilium Antrea", "", false},
		"AWS Fargate alone":             {[]client.Object{fargate, cni}, "", "on nodes of AWS Fargate", true},
		"both sorts, both switched off": {[]client.Object{auto, other, cniOff}, "", "kubectl create configmap", true},
	} {
		got := read(t, clusterfacts.Reader{Clock: clocktesting.NewFakePassiveClock(noon)}, append(tc.objects, kubernetes)...).Enforcer
		if strings.Join(got.Names, " ") != tc.names || got.Off != tc.off || (got.Problem == "") != (tc.problem == "") ||
			!strings.Contains(got.Problem, tc.problem) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	for name, tc := range map[string]struct {
		objects []client.Object
		names   string
		problem string
	}{
		"on":                           {[]client.Object{on}, "EKS Auto Mode", ""},
		"off":                          {nil, "", "kubectl create configmap amazon-vpc-cni"},
		"on, beside nodes without any": {[]client.Object{on, other}, "EKS Auto Mode", "only EKS Auto Mode enforces"},
	} {
		got := read(t, clusterfacts.Reader{AutoMode: saysAutoMode}, append(tc.objects, kubernetes)...).Enforcer
		if strings.Join(got.Names, " ") != tc.names || !strings.Contains(got.Problem, tc.problem) || (got.Problem == "") != (tc.problem == "") {
			t.Errorf("before the first node of Auto Mode, %s: %+v", name, got)
		}
	}
	if got := read(t, clusterfacts.Reader{Enforcer: "ours"}).Enforcer; !slices.Equal(got.Names, []string{"ours"}) || got.Problem != "" {
		t.Errorf("the name that an administrator gives does not count: %+v", got)
	}
}

// failing is an API server that answers reads of some types with an error.
func failing(err error, types ...string) client.Client {
	fails := func(o any) bool {
		text := fmt.Sprintf("%T", o)
		return slices.ContainsFunc(types, func(s string) bool { return strings.Contains(text, s) })
	}
	return interceptor.NewClient(fake.NewClientBuilder().WithObjects(kubernetes, kubeDNS, node("a", "")).Build(), interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if fails(o) {
				return err
			}
			return c.Get(ctx, key, o, opts...)
		},
		List: func(ctx context.Context, c client.WithWatch, l client.ObjectList, opts ...client.ListOption) error {
			if fails(l) {
				return err
			}
			return c.List(ctx, l, opts...)
		},
	})
}

func TestRead_WithoutARightLeavesItsFactsUnknown(t *testing.T) {
	denied := apierrors.NewForbidden(schema.GroupResource{Resource: "things"}, "x", errors.New("RBAC says no"))
	for _, kinds := range [][]string{{"PartialObjectMetadataList"}, {"DaemonSetList"}} {
		got := read(t, clusterfacts.Reader{Live: failing(denied, kinds...)})
		if got.DNS.Problem != "" || got.Enforcer.Off || !strings.Contains(got.Enforcer.Problem, "RBAC says no") {
			t.Errorf("%v: %+v", kinds, got)
		}
	}
	got := read(t, clusterfacts.Reader{Live: failing(denied, "EndpointSliceList", "PodList", "ConfigMap")})
	if got.DNS.Namespace != "kube-system" || got.DNS.Problem != "" {
		t.Errorf("%+v", got)
	}
}

func TestRead_TakesNoFailureForAnAnswer(t *testing.T) {
	outage := apierrors.NewServiceUnavailable("not now")
	for kind, said := range map[string]string{"PartialObjectMetadataList": "nodes", "DaemonSetList": "DaemonSets", "Service": "Service",
		"EndpointSliceList": "EndpointSlices", "PodList": "pods"} {
		if _, err := (clusterfacts.Reader{Live: failing(outage, kind), DNSService: dnsName}).Read(t.Context()); err == nil ||
			!strings.Contains(err.Error(), said) {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// Tenants may create many DaemonSets of a mebibyte.
func TestRead_ListsDaemonSetsByPages(t *testing.T) {
	api, pages := apiWith(kubeDNS), 0
	reader := interceptor.NewClient(api.(client.WithWatch),
		interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			sets, ok := list.(*appsv1.DaemonSetList)
			if !ok {
				return c.List(ctx, list, opts...)
			}
			asked := (&client.ListOptions{}).ApplyOptions(opts)
			if pages++; asked.Limit == 0 || asked.Limit > 100 || asked.Continue != []string{"", "next"}[pages-1] {
				t.Errorf("page %d: %+v", pages, asked)
			}
			if sets.Items = []appsv1.DaemonSet{*daemonSet("other")}; pages == 1 {
				sets.Continue = "next"
			} else {
				sets.Items = append(sets.Items, *daemonSet("cilium"))
			}
			return nil
		}})
	if got := read(t, clusterfacts.Reader{Live: reader}).Enforcer.Names; !slices.Equal(got, []string{"Cilium"}) || pages != 2 {
		t.Errorf("%q after %d pages", got, pages)
	}
}
