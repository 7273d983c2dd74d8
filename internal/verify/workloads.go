// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/check"
	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/inspect"
	"github.com/nexus-operator/nexus-operator/internal/progress"
)

// isIdle reports whether no pods of a component are declared.
func isIdle(w capability.Workload) bool { return w.Replicas != nil && *w.Replicas == 0 }

func (v *verifier) workloadKey(name string) client.ObjectKey {
	return client.ObjectKey{Namespace: capability.NamesOf(v.subject).WorkloadNamespace(), Name: name}
}

// get reads an object of the workloads. ok is false when the check is done: the object is missing, or an error is
// returned.
func (v *verifier) get(ctx context.Context, o client.Object, name, title string) (ok bool, err error) {
	err = v.client.Get(ctx, v.workloadKey(name), o)
	if apierrors.IsNotFound(err) {
		return false, v.add(check.Fail(title, fmt.Sprintf("%s does not exist in namespace %s", name, v.workloadKey(name).Namespace),
			"see "+inspect.ExplainCommand(v.subject)+": the operator makes the object once nothing is in the way").Follows())
	}
	if apierrors.IsForbidden(err) {
		return false, v.add(check.Lacks(title, err.Error(), "ask for the right that the API server names"))
	}
	return err == nil, err
}

// checkWorkloads looks whether exactly the declared pods exist and are available.
func (v *verifier) checkWorkloads(ctx context.Context) error {
	for _, w := range capability.Workloads(v.subject) {
		name := w.Deployment
		if name == "" { // a Job and a CronJob keep no pods running; condition ComponentsReady reports their runs
			continue
		}
		title := "the pods of Deployment/" + name + " are available"
		d := &appsv1.Deployment{}
		if ok, err := v.get(ctx, d, name, title); err != nil {
			return err
		} else if !ok {
			continue
		}
		p := progress.WorkloadsOf([]*appsv1.Deployment{d})[0]
		seen := fmt.Sprintf("%d of %d available, %d of the declared version, %d in all", p.Current, p.Desired, d.Status.UpdatedReplicas,
			d.Status.Replicas)
		result := check.Pass(title, seen)
		if !p.Settled {
			if c := meta.FindStatusCondition(v.subject.Status.Conditions, w.Condition); c != nil && c.Status != metav1.ConditionTrue {
				seen += "; " + c.Reason + console.Prefixed(": ", c.Message)
			}
			result = check.Fail(title, seen, fmt.Sprintf("kubectl describe pods -n %s -l %s", d.Namespace,
				metav1.FormatLabelSelector(d.Spec.Selector)))
		}
		if err := v.add(result); err != nil {
			return err
		}
	}
	return nil
}

// checkEndpoints looks whether each Service leads to pods that are ready.
func (v *verifier) checkEndpoints(ctx context.Context) error {
	for _, w := range capability.Workloads(v.subject) {
		for _, name := range w.Services {
			if err := v.checkEndpointsOf(ctx, w, name); err != nil {
				return err
			}
		}
	}
	return nil
}

func (v *verifier) checkEndpointsOf(ctx context.Context, w capability.Workload, name string) error {
	title := "Service/" + name + " has ready endpoints"
	s := &corev1.Service{}
	if ok, err := v.get(ctx, s, name, title); err != nil || !ok {
		return err
	}
	list := &discoveryv1.EndpointSliceList{}
	if err := v.client.List(ctx, list, client.InNamespace(v.workloadKey("").Namespace),
		client.MatchingLabels{discoveryv1.LabelServiceName: name}); err != nil {
		return err
	}
	ready, all := 0, 0
	for i := range list.Items {
		for _, e := range list.Items[i].Endpoints {
			all++
			if e.Conditions.Ready == nil || *e.Conditions.Ready {
				ready++
			}
		}
	}
	seen := fmt.Sprintf("%d of %d endpoints are ready", ready, all)
	switch {
	case ready > 0:
		return v.add(check.Pass(title, seen))
	case isIdle(w):
		return v.add(check.Skip(title, "0 replicas are declared"))
	default:
		fix, err := v.fixOfPods(ctx, s, "kubectl get endpointslices -n "+s.Namespace+" -l "+discoveryv1.LabelServiceName+"="+name)
		if err != nil {
			return err
		}
		return v.add(check.Fail(title, seen, fix).Follows())
	}
}

// healthTimeout limits how long an application may take to answer its health check.
const healthTimeout = 10 * time.Second

// checkHealth asks each workload for its health, through the API server's proxy: so it works also where the load
// balancer is private.
func (v *verifier) checkHealth(ctx context.Context) error {
	for _, w := range capability.Workloads(v.subject) {
		title := w.Component + " answers its health check"
		if len(w.Services) == 0 { // nothing calls a Worker
			continue
		}
		if isIdle(w) {
			if err := v.add(check.Skip(title, "0 replicas are declared")); err != nil {
				return err
			}
			continue
		}
		d, s := &appsv1.Deployment{}, &corev1.Service{}
		if ok, err := v.get(ctx, d, w.Deployment, title); err != nil {
			return err
		} else if !ok {
			continue
		}
		if ok, err := v.get(ctx, s, w.Services[0], title); err != nil {
			return err
		} else if !ok {
			continue
		}
		if err := v.checkAnswer(ctx, title, s, healthPathOf(v.subject, d)); err != nil {
			return err
		}
	}
	return nil
}

// checkAnswer asks a Service. That simulated pods give no good answer proves nothing.
func (v *verifier) checkAnswer(ctx context.Context, title string, s *corev1.Service, path string) error {
	result, err := v.askHealth(ctx, title, s, path)
	if err != nil {
		return err
	}
	if result.Outcome == check.OutcomeFail && v.isSimulated(ctx, s) {
		result = check.Skip(title, "its pods run on nodes that kwok simulates, where no container answers")
	}
	if result.Outcome == check.OutcomeFail {
		if result.Fix, err = v.fixOfPods(ctx, s, result.Fix); err != nil {
			return err
		}
	}
	return v.add(result)
}

// healthPathOf returns the path of the readiness probe, or the declared path without one.
func healthPathOf(c *nexusv1.NexusAICapability, d *appsv1.Deployment) string {
	for _, container := range d.Spec.Template.Spec.Containers {
		if p := container.ReadinessProbe; p != nil && p.HTTPGet != nil && p.HTTPGet.Path != "" {
			return p.HTTPGet.Path
		}
	}
	if in := c.Spec.Ingress; in != nil {
		return cmp.Or(in.HealthCheckPath, "/health")
	}
	return "/health"
}

// askHealth asks the API server to ask a Service. The body of an answer is not shown: it is the application's.
func (v *verifier) askHealth(ctx context.Context, title string, s *corev1.Service, path string) (check.Result, error) {
	if len(s.Spec.Ports) == 0 {
		return check.Fail(title, "Service/"+s.Name+" has no port", "check that the operator runs: it makes the Service as declared"), nil
	}
	base, _, err := rest.DefaultServerURL(v.config.Host, v.config.APIPath, corev1.SchemeGroupVersion, true)
	if err != nil {
		return check.Result{}, err
	}
	through, err := rest.HTTPClientFor(v.config)
	if err != nil {
		return check.Result{}, err
	}
	through.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	target := base.JoinPath("api/v1/namespaces", s.Namespace, "services", fmt.Sprintf("http:%s:%d", s.Name, s.Spec.Ports[0].Port),
		"proxy", path)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return check.Result{}, err
	}
	where := fmt.Sprintf("GET %s of Service/%s", path, s.Name)
	fix := fmt.Sprintf("kubectl logs -n %s -l %s --tail=50", s.Namespace,
		metav1.FormatLabelSelector(&metav1.LabelSelector{MatchLabels: s.Spec.Selector}))
	response, err := through.Do(request)
	if errors.Is(err, context.DeadlineExceeded) {
		return check.Fail(title, fmt.Sprintf("%s: no answer within %s", where, healthTimeout), fix), nil
	}
	if err != nil {
		return check.Result{}, err
	}
	defer func() { _ = response.Body.Close() }()
	said, err := statusIn(response)
	if err != nil {
		return check.Result{}, err
	}
	return judgeAnswer(title, where, fix, response.StatusCode, said), nil
}

// isSimulated reports whether the Service has pods and all of them run on nodes that kwok simulates, by the annotation of the nodes.
// Without the right to read them the pods are asked like any others.
func (v *verifier) isSimulated(ctx context.Context, s *corev1.Service) bool {
	pods := &corev1.PodList{}
	if err := v.client.List(ctx, pods, client.InNamespace(s.Namespace), client.MatchingLabels(s.Spec.Selector)); err != nil ||
		len(pods.Items) == 0 {
		return false
	}
	for i := range pods.Items {
		n := &corev1.Node{}
		err := v.client.Get(ctx, client.ObjectKey{Name: pods.Items[i].Spec.NodeName}, n)
		if _, simulated := n.Annotations[wellknown.AnnotationSimulatedNode]; err != nil || !simulated {
			return false
		}
	}
	return true
}

// statusIn reads the answer of the API server itself, which it sends when it did not reach the application; nil when the
// answer is the application's.
func statusIn(response *http.Response) (*metav1.Status, error) {
	if !strings.HasPrefix(response.Header.Get("Content-Type"), "application/json") {
		return nil, nil
	}
	b, err := io.ReadAll(io.LimitReader(response.Body, 1<<16))
	if err != nil {
		return nil, fmt.Errorf("reading the answer to the health check: %w", err)
	}
	s := &metav1.Status{}
	if json.Unmarshal(b, s) != nil || s.Kind != "Status" || s.APIVersion != "v1" {
		return nil, nil //nolint:nilerr // the application's own JSON
	}
	return s, nil
}

func judgeAnswer(title, where, fix string, code int, said *metav1.Status) check.Result {
	switch {
	case said != nil && (said.Reason == metav1.StatusReasonForbidden || said.Reason == metav1.StatusReasonUnauthorized):
		return check.Lacks(title, said.Message, "ask for the right to get services/proxy in the namespace")
	case said != nil:
		return check.Fail(title, where+": the API server reaches no pod: "+said.Message, fix)
	case code >= 200 && code < 400:
		return check.Pass(title, fmt.Sprintf("%s: HTTP %d", where, code))
	default:
		return check.Fail(title, fmt.Sprintf("%s: HTTP %d", where, code), fix)
	}
}

// checkAddress looks whether each declared load balancer has an address.
func (v *verifier) checkAddress(ctx context.Context) error {
	asked := false
	if capability.HasIngress(v.subject) {
		asked = true
		err := v.checkGatewayAddress(ctx)
		if capability.GatewayOf(v.subject) == nil {
			err = v.checkIngressAddress(ctx, capability.NamesOf(v.subject).Ingress())
		}
		if err != nil {
			return err
		}
	}
	for _, w := range capability.Workloads(v.subject) {
		if !w.Balanced {
			continue
		}
		asked = true
		if err := v.checkServiceAddress(ctx, w.Services[0]); err != nil {
			return err
		}
	}
	if !asked {
		return v.add(check.Skip("the load balancer has an address", "none is declared"))
	}
	return nil
}

func (v *verifier) checkIngressAddress(ctx context.Context, name string) error {
	in := &networkingv1.Ingress{}
	title := "Ingress/" + name + " has an address"
	if ok, err := v.get(ctx, in, name, title); err != nil || !ok {
		return err
	}
	var addresses []string
	for _, i := range in.Status.LoadBalancer.Ingress {
		addresses = append(addresses, cmp.Or(i.Hostname, i.IP))
	}
	return v.addAddress(title, addresses, "ingress "+name)
}

// checkGatewayAddress looks whether the Gateway, of the capability's own or one that it names, has an address; there may be none.
func (v *verifier) checkGatewayAddress(ctx context.Context) error {
	namespace, name, ok := capability.GatewayObject(v.subject)
	if !ok {
		return nil
	}
	u, title := &unstructured.Unstructured{}, "Gateway/"+name+" has an address"
	u.SetGroupVersionKind(schema.GroupVersionKind{Group: capability.GatewayGroup, Version: "v1", Kind: "Gateway"})
	err := v.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, u)
	switch {
	case apierrors.IsNotFound(err), meta.IsNoMatchError(err):
		return v.add(check.Fail(title, fmt.Sprintf("Gateway %s does not exist in namespace %s", name, namespace),
			"see "+inspect.ExplainCommand(v.subject)).Follows())
	case apierrors.IsForbidden(err):
		return v.add(check.Lacks(title, err.Error(), "ask for the right that the API server names"))
	case err != nil:
		return err
	}
	list, _, _ := unstructured.NestedSlice(u.Object, "status", "addresses")
	var addresses []string
	for _, a := range list {
		m, _ := a.(map[string]any)
		value, _ := m["value"].(string)
		addresses = append(addresses, value)
	}
	if len(addresses) == 0 {
		return v.add(check.Fail(title, "status.addresses is empty",
			"check that its controller runs: kubectl describe gateway "+name+" -n "+namespace))
	}
	return v.add(check.Pass(title, strings.Join(addresses, ", ")))
}

func (v *verifier) checkServiceAddress(ctx context.Context, name string) error {
	s := &corev1.Service{}
	title := "Service/" + name + " has an address"
	if ok, err := v.get(ctx, s, name, title); err != nil || !ok {
		return err
	}
	var addresses []string
	for _, i := range s.Status.LoadBalancer.Ingress {
		addresses = append(addresses, cmp.Or(i.Hostname, i.IP))
	}
	return v.addAddress(title, addresses, "service "+name)
}

func (v *verifier) addAddress(title string, addresses []string, object string) error {
	if len(addresses) == 0 || addresses[0] == "" {
		return v.add(check.Fail(title, "status.loadBalancer is empty",
			"check that the AWS Load Balancer Controller runs, and its events: kubectl describe "+object+" -n "+v.workloadKey("").Namespace))
	}
	return v.add(check.Pass(title, strings.Join(addresses, ", ")))
}
