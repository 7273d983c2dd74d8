// SPDX-License-Identifier: Apache-2.0

package health

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// lookingAt is a reconciler at noon, over a cluster with a few objects. A refusal, if there is one, answers every read.
func lookingAt(t *testing.T, refusal error, objs ...client.Object) Reader {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	b := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objs...)
	if refusal != nil {
		b = b.WithInterceptorFuncs(interceptor.Funcs{
			Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
				return refusal
			},
			List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error { return refusal },
		})
	}
	return Reader{Client: b.Build(), Clock: clocktesting.NewFakePassiveClock(noon)}
}

// looksLike fails the test unless a health has a reason, is stalled or not, and says a remedy.
func looksLike(t *testing.T, h Health, ready bool, reason string, stalled bool, says string) {
	t.Helper()
	if h.Ready != ready || h.Reason != reason || h.Stalled != stalled || !strings.Contains(h.Message, says) {
		t.Errorf("%+v, want ready %v, reason %q, stalled %v, and a message with %q", h, ready, reason, stalled, says)
	}
}

func TestHealth_OfAServiceAndAnIngress(t *testing.T) {
	address := corev1.ServiceStatus{LoadBalancer: corev1.LoadBalancerStatus{Ingress: []corev1.LoadBalancerIngress{{Hostname: "x.elb.example"}}}}
	service := func(kind corev1.ServiceType, age time.Duration, st corev1.ServiceStatus) *corev1.Service {
		return &corev1.Service{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(noon.Add(-age))},
			Spec: corev1.ServiceSpec{Type: kind}, Status: st}
	}
	ingress := func(class *string, addresses int) *networkingv1.Ingress {
		i := &networkingv1.Ingress{Spec: networkingv1.IngressSpec{IngressClassName: class}}
		i.Status.LoadBalancer.Ingress = make([]networkingv1.IngressLoadBalancerIngress, addresses)
		return i
	}
	alb := &networkingv1.IngressClass{ObjectMeta: metav1.ObjectMeta{Name: "alb"}}
	auto := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "auto", Labels: map[string]string{"eks.amazonaws.com/compute-type": "auto"}}}
	for name, tc := range map[string]struct {
		object        client.Object
		cluster       []client.Object
		refusal       error
		ready         bool
		reason        string
		stalled, errs bool
		says          string
	}{
		"a Service inside the cluster": {service(corev1.ServiceTypeClusterIP, time.Hour, corev1.ServiceStatus{}), nil, forbidden, true,
			"", false, false, ""},
		"a Service with an address": {service(corev1.ServiceTypeLoadBalancer, time.Hour, address), nil, forbidden, true, "", false,
			false, ""},
		"a new Service": {service(corev1.ServiceTypeLoadBalancer, time.Second, corev1.ServiceStatus{}), nil, nil, false,
			status.ReasonProgressing, false, false, "no address yet"},
		"a Service that nobody serves": {service(corev1.ServiceTypeLoadBalancer, time.Minute, corev1.ServiceStatus{}), nil, nil, false,
			status.ReasonControllerMissing, true, false, "set service.type: ClusterIP"},
		"an old Service on EKS Auto Mode": {service(corev1.ServiceTypeLoadBalancer, time.Minute, corev1.ServiceStatus{}),
			[]client.Object{auto}, nil, false, status.ReasonProgressing, false, false, "no address yet"},
		"an Ingress on EKS Auto Mode": {ingress(nil, 0), []client.Object{auto}, nil, false, status.ReasonIngressClassMissing, true,
			false, "create it with controller eks.amazonaws.com/alb"},
		"an old Service with the ALB's class": {service(corev1.ServiceTypeLoadBalancer, time.Hour, corev1.ServiceStatus{}),
			[]client.Object{alb}, nil, false, status.ReasonProgressing, false, false, "no address yet"},
		"a Service while nothing can be read": {service(corev1.ServiceTypeLoadBalancer, time.Hour, corev1.ServiceStatus{}), nil, forbidden,
			false, status.ReasonProgressing, false, true, ""},
		"an Ingress with an address": {ingress(nil, 1), nil, forbidden, true, "", false, false, ""},
		"an Ingress without its class": {ingress(nil, 0), nil, nil, false, status.ReasonIngressClassMissing, true, false,
			"there is no IngressClass alb: install"},
		"an Ingress without a class of its own": {ingress(new("nginx"), 0), []client.Object{alb}, nil, false, status.ReasonIngressClassMissing,
			true, false, "there is no IngressClass nginx"},
		"an Ingress whose class exists": {ingress(nil, 0), []client.Object{alb}, nil, false, status.ReasonProgressing, false, false,
			"no address yet"},
		"an Ingress while nothing can be read": {ingress(nil, 0), nil, unavailable, false, status.ReasonProgressing, false, true, ""},
		"a namespace":                          {&corev1.Namespace{}, nil, nil, true, "", false, false, ""},
		"a namespace in deletion": {&corev1.Namespace{Status: corev1.NamespaceStatus{Phase: corev1.NamespaceTerminating}}, nil,
			nil, false, status.ReasonDeleting, false, false, "being deleted"},
		"a kind without a status": {&corev1.ConfigMap{}, nil, nil, true, "", false, false, ""},
		"a quota that nobody has counted yet": {&corev1.ResourceQuota{Spec: quotaOf("20")}, nil, nil, false, status.ReasonProgressing, false,
			false, "not in force yet"},
		"a quota that was changed since it was": {&corev1.ResourceQuota{Spec: quotaOf("20"),
			Status: corev1.ResourceQuotaStatus{Hard: quotaOf("10").Hard}}, nil, nil, false, status.ReasonProgressing, false, false,
			"not in force yet"},
		"a quota in force, in another notation": {&corev1.ResourceQuota{Spec: quotaOf("1k"),
			Status: corev1.ResourceQuotaStatus{Hard: quotaOf("1000").Hard}}, nil, nil, true, "", false, false, ""},
		"a Deployment while no pod can be listed": {deployment(1, appsv1.DeploymentStatus{}), nil, forbidden, false, "", false, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			h, err := lookingAt(t, tc.refusal, tc.cluster...).Of(t.Context(), tc.object)
			if (err != nil) != tc.errs {
				t.Errorf("returned %v", err)
			}
			looksLike(t, h, tc.ready, tc.reason, tc.stalled, tc.says)
		})
	}
}

// Node pools of EKS Auto Mode begin without nodes: EKS says that it is enabled, and no label does.
func TestHealth_OfWhatAutoModeServesBeforeItsFirstNode(t *testing.T) {
	old := &corev1.Service{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(noon.Add(-time.Minute))},
		Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer}}
	for name, tc := range map[string]struct {
		enabled bool
		object  client.Object
		reason  string
		stalled bool
		says    string
	}{
		"an Ingress, enabled, no node yet": {true, &networkingv1.Ingress{}, status.ReasonIngressClassMissing, true,
			"create it with controller eks.amazonaws.com/alb"},
		"an Ingress, not enabled": {false, &networkingv1.Ingress{}, status.ReasonIngressClassMissing, true,
			"install the AWS Load Balancer Controller"},
		"a Service, enabled, no node yet": {true, old, status.ReasonProgressing, false, "no address yet"},
		"a Service, not enabled":          {false, old, status.ReasonControllerMissing, true, "install the AWS Load Balancer Controller"},
	} {
		r := lookingAt(t, nil)
		r.AutoMode = func(context.Context) bool { return tc.enabled }
		h, err := r.Of(t.Context(), tc.object)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		looksLike(t, h, false, tc.reason, tc.stalled, tc.says)
	}
}

func quotaOf(pods string) corev1.ResourceQuotaSpec {
	return corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse(pods)}}
}

// deployment is one of generation 2 that wants replicas.
func deployment(replicas int32, st appsv1.DeploymentStatus) *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "app", Generation: 2},
		Spec:   appsv1.DeploymentSpec{Replicas: new(replicas), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "app"}}},
		Status: st}
}

func TestHealth_OfADeployment(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "app-1", Labels: map[string]string{"app": "app"}},
		Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "app", Image: "app:2",
			State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}}}}}}
	elsewhere := pod.DeepCopy()
	elsewhere.Namespace = "other"
	refused := appsv1.DeploymentCondition{Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue,
		Message: "exceeded quota: pods=20."}
	type st = appsv1.DeploymentStatus
	for name, tc := range map[string]struct {
		status  st
		pods    []client.Object
		ready   bool
		reason  string
		stalled bool
		serving bool
		says    string
	}{
		"rolled out": {st{ObservedGeneration: 2, Replicas: 2, UpdatedReplicas: 2, AvailableReplicas: 2}, nil, true,
			"", false, false, ""},
		"an old replica is left": {st{ObservedGeneration: 2, Replicas: 3, UpdatedReplicas: 2, AvailableReplicas: 3}, nil, false,
			status.ReasonProgressing, false, true, "updating, the previous version is serving"},
		"the edit was not observed": {st{ObservedGeneration: 1, Replicas: 2, UpdatedReplicas: 2, AvailableReplicas: 2},
			[]client.Object{pod}, false, status.ReasonProgressing, false, true, "has not observed the last change"},
		"new and not available": {st{ObservedGeneration: 2, Replicas: 2, UpdatedReplicas: 2, AvailableReplicas: 1}, nil, false,
			status.ReasonProgressing, false, false, "1 of 2 replicas are available"},
		"its image cannot be pulled": {st{ObservedGeneration: 2, Replicas: 2, UpdatedReplicas: 2}, []client.Object{pod}, false,
			status.ReasonImagePull, true, false, "image app:2 cannot be pulled: push it"},
		"the new image cannot be pulled": {st{ObservedGeneration: 2, Replicas: 3, UpdatedReplicas: 1, AvailableReplicas: 2},
			[]client.Object{pod}, false, status.ReasonImagePull, true, true, "update failed, the previous version is serving: image app:2"},
		"a pod of the same labels elsewhere": {st{ObservedGeneration: 2, Replicas: 2, UpdatedReplicas: 2}, []client.Object{elsewhere}, false,
			status.ReasonProgressing, false, false, "0 of 2"},
		"its pods are refused": {st{ObservedGeneration: 2, Conditions: []appsv1.DeploymentCondition{refused}}, nil, false,
			status.ReasonPodsRefused, true, false, "exceeded quota: pods=20; raise the quota"},
		"more pods are available than it wanted": {st{ObservedGeneration: 2, Replicas: 5, UpdatedReplicas: 1, AvailableReplicas: 4}, nil, false,
			status.ReasonProgressing, false, true, "2 of 2"},
	} {
		t.Run(name, func(t *testing.T) {
			h, err := lookingAt(t, nil, tc.pods...).Of(t.Context(), deployment(2, tc.status))
			if err != nil || h.Serving != tc.serving {
				t.Errorf("serving %v, %v", h.Serving, err)
			}
			looksLike(t, h, tc.ready, tc.reason, tc.stalled, tc.says)
		})
	}
	// Scaled to nothing, nothing serves.
	if h, _ := lookingAt(t, nil).Of(t.Context(), deployment(0, st{ObservedGeneration: 1})); h.Serving {
		t.Errorf("%+v", h)
	}
}

func TestSickPod_SaysWhatToDo(t *testing.T) {
	waiting := func(reason, message string) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: "app", Image: "app:1",
			State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}}
	}
	running := func(since time.Duration, ready bool, restarts int32) corev1.ContainerStatus {
		s := corev1.ContainerStatus{Name: "app", Ready: ready, RestartCount: restarts,
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(noon.Add(-since))}}}
		if restarts > 0 {
			s.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 137}
		}
		return s
	}
	of := func(s ...corev1.ContainerStatus) corev1.Pod {
		return corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: s}}
	}
	unschedulable := corev1.Pod{Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled,
		Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: "0/3 nodes are available."}}}}
	leaving := of(waiting("ImagePullBackOff", ""))
	leaving.DeletionTimestamp = new(metav1.Now())
	initializing := of(waiting("PodInitializing", ""))
	initializing.Status.InitContainerStatuses = []corev1.ContainerStatus{waiting("ErrImagePull", "")}
	for name, tc := range map[string]struct {
		pod     corev1.Pod
		reason  string
		stalled bool
		says    string
	}{
		"no node": {unschedulable, status.ReasonUnschedulable, false,
			"0/3 nodes are available; add nodes or lower its requests"},
		"it is being deleted":            {leaving, "", false, ""},
		"an image name nobody can pull":  {of(waiting("InvalidImageName", "")), status.ReasonImagePull, true, "image app:1 cannot be pulled"},
		"the image of an init container": {initializing, status.ReasonImagePull, true, "cannot be pulled"},
		"it starts":                      {of(waiting("ContainerCreating", "")), "", false, ""},
		"it crashes":                     {of(waiting("CrashLoopBackOff", "")), status.ReasonCrashLoop, true, "kubectl logs --previous"},
		"it runs between two crashes":    {of(running(time.Second, false, 2)), status.ReasonCrashLoop, true, "keeps crashing (exit code 137)"},
		"it crashed once":                {of(running(time.Second, false, 1)), "", false, ""},
		"it crashed and is ready again":  {of(running(time.Second, true, 7)), "", false, ""},
		"it is slow to become ready": {of(running(slowStart+time.Second, false, 0)), status.ReasonProbeFailing, false,
			"check the probe's path and port"},
		"it has just started": {of(running(slowStart, false, 0)), "", false, ""},
		"it runs as root": {of(waiting("CreateContainerConfigError", "container has runAsNonRoot and image will run as root")),
			status.ReasonImageRunsAsRoot, true, "numeric USER"},
		"its user has a name": {of(waiting("CreateContainerConfigError",
			"container has runAsNonRoot and image has non-numeric user (app)")), status.ReasonImageUserNotNumeric, true, "such as 65532"},
		"a ConfigMap is missing": {of(waiting("CreateContainerConfigError", `configmap "x" not found`)), "CreateContainerConfigError",
			true, `container app cannot start: configmap "x" not found`},
		"the second of its two containers": {of(running(time.Hour, true, 0), waiting("ErrImagePull", "")), status.ReasonImagePull, true, ""},
		"a reason that this does not know": {of(waiting("SomethingNew", "")), "", false, ""},
		"nothing is known of it":           {corev1.Pod{}, "", false, ""},
		"it could be scheduled at any time": {corev1.Pod{Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled,
			Status: corev1.ConditionFalse, Reason: corev1.PodReasonSchedulingGated}}}}, "", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			h, sick := lookingAt(t, nil).sickPod(&tc.pod)
			if sick != (tc.reason != "") {
				t.Errorf("sick: %v", sick)
			}
			looksLike(t, h, false, tc.reason, tc.stalled, tc.says)
		})
	}
}

// A probe that fails may still succeed, until the Deployment's own deadline has passed.
func TestHealth_ProbeFailureStallsAfterTheDeadline(t *testing.T) {
	pod := corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "app",
		State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(noon.Add(-time.Minute))}}}}}}
	for want, conditions := range map[bool][]appsv1.DeploymentCondition{
		false: nil, true: {{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse, Reason: "ProgressDeadlineExceeded"}},
	} {
		d := deployment(1, appsv1.DeploymentStatus{Conditions: conditions})
		looksLike(t, lookingAt(t, nil).notRolledOut(d, 1, []corev1.Pod{pod}), false, status.ReasonProbeFailing, want, "readiness probe fails")
	}
}

func TestHealth_OfAnAWSChild(t *testing.T) {
	set := func(generation int64, err error, versions map[string]int64) *v1alpha1.SSMParameterSet {
		o := &v1alpha1.SSMParameterSet{ObjectMeta: metav1.ObjectMeta{Generation: 2}}
		o.Spec.Parameters = map[string]v1alpha1.SSMParameter{"a": {}, "b": {}}
		o.Status.Versions, o.Status.ARN = versions, "arn:aws:ssm:::a"
		status.Summarize(&o.Status.Conditions, status.Result{Generation: generation, Now: noon, Err: err})
		return o
	}
	denied := &status.Stalled{Reason: status.ReasonAccessDenied, Message: "ssm:PutParameter is denied"}
	both := map[string]int64{"a": 1, "b": 4}
	for name, tc := range map[string]struct {
		object  *v1alpha1.SSMParameterSet
		ready   bool
		present bool
		reason  string
		stalled bool
		says    string
	}{
		"ready":                      {set(2, nil, both), true, true, "", false, ""},
		"ready before the last edit": {set(1, nil, both), false, true, status.ReasonProgressing, false, "being brought in line"},
		"one parameter does not exist": {set(2, &status.Waiting{For: "SSM"}, map[string]int64{"a": 1}), false, false, status.ReasonWaiting,
			false, "SSM"},
		"denied":                         {set(2, denied, both), false, false, status.ReasonAccessDenied, true, "ssm:PutParameter is denied"},
		"denied before the last edit":    {set(1, denied, both), false, true, status.ReasonProgressing, false, "being brought in line"},
		"nobody has looked at it so far": {&v1alpha1.SSMParameterSet{}, false, true, status.ReasonProgressing, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := resourceHealth(tc.object)
			looksLike(t, h, tc.ready, tc.reason, tc.stalled, tc.says)
			if h.Present != tc.present || h.ARN != tc.object.Status.ARN {
				t.Errorf("present %v, ARN %q", h.Present, h.ARN)
			}
		})
	}
	// A failure that passes leaves Ready as it was, and is reported.
	o := set(2, nil, both)
	status.Summarize(&o.Status.Conditions, status.Result{Generation: 2, Now: noon,
		Err: &status.Retrying{Reason: status.ReasonThrottled, Cause: apierrors.NewTooManyRequests("slow down", 1)}})
	looksLike(t, resourceHealth(o), true, status.ReasonThrottled, false, "slow down")
}

var (
	forbidden   = apierrors.NewForbidden(schema.GroupResource{Resource: "things"}, "x", errors.New("there is no right to it"))
	unavailable = apierrors.NewServiceUnavailable("etcd does not answer")
)
