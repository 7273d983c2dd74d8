// SPDX-License-Identifier: Apache-2.0

package workloads

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/appmodel"
)

// shape says where a kind of workload has its pods.
type shape struct {
	// pods is the path of the pod's template.
	pods []string
	kind appmodel.Type
}

func shapes() map[string]shape {
	template := []string{"spec", "template"}
	return map[string]shape{
		"Deployment": {template, appmodel.TypeService}, "StatefulSet": {template, appmodel.TypeService},
		"Job": {template, appmodel.TypeJob}, "CronJob": {[]string{"spec", "jobTemplate", "spec", "template"}, appmodel.TypeCronJob},
	}
}

func isWorkload(x *object) bool {
	_, is := shapes()[x.GetKind()]
	return is && x.GetAnnotations()["helm.sh/hook"] == ""
}

// podsOf returns the template of the pods of a workload.
func podsOf(x *object) map[string]any {
	out, _, _ := unstructured.NestedMap(x.Object, shapes()[x.GetKind()].pods...)
	return out
}

// specFields are the fields of the specs of workloads that are read, or that have no meaning for a component.
func specFields(kind string) map[string]string {
	never := "a component has no such setting; its pods are replaced one after another"
	out := map[string]string{
		"replicas": "", "selector": "", "template": "", "revisionHistoryLimit": "", "progressDeadlineSeconds": "", "strategy": never,
		"updateStrategy": never, "podManagementPolicy": never,
		"timeZone": "", "concurrencyPolicy": "", "suspend": "a component runs as soon as it is declared", "serviceName": "",
		"minReadySeconds": never, "schedule": "", "jobTemplate": "",
		"volumeClaimTemplates": "pods of a capability keep no files; use a bucket of dataServices.s3 or a table of dataServices.dynamodb",
	}
	if kind == "Job" {
		out["backoffLimit"], out["activeDeadlineSeconds"], out["ttlSecondsAfterFinished"] = "", "", "a Job that is gone would run again"
	}
	return out
}

// readWorkload reads a workload into a component, or leaves it to a service of AWS.
func (r *reader) readWorkload(x *object) error {
	x.used = true
	template := podsOf(x)
	pod := &corev1.PodSpec{}
	spec, _, _ := unstructured.NestedMap(template, "spec")
	if spec == nil {
		return x.fault("spec", "the workload has no template of pods")
	}
	if err := x.decode("spec", x.Object, &struct {
		Spec struct {
			Replicas *int32 `json:"replicas"`
		} `json:"spec"`
	}{}); err != nil {
		return err
	}
	if err := x.decode("spec.template.spec", spec, pod); err != nil {
		return err
	}
	if len(pod.Containers) == 0 {
		return x.fault("spec.template.spec.containers", "the pods have no container")
	}
	first := pod.Containers[0]
	if appmodel.IsStore(first.Image) && !slices.Contains(r.options.Keep, x.GetName()) {
		r.app.LeaveStore(x.at(""), first.Image, r.hostsOf(x)...)
		return nil
	}
	if err := appmodel.CheckImage(first.Image); err != nil {
		return x.fault("spec.template.spec.containers[0].image", "%v", err)
	}
	if first.ImagePullPolicy != "" && first.ImagePullPolicy != corev1.PullIfNotPresent {
		r.app.Notef("", x.at("imagePullPolicy"),
			"%s is not carried over: a node pulls an image again only if its tag is latest, or if the node does not have the tag",
			first.ImagePullPolicy)
	}
	return r.addComponent(x, template, pod)
}

// addComponent reads the fields of a workload and its pods.
func (r *reader) addComponent(x *object, template map[string]any, pod *corev1.PodSpec) error {
	name := r.app.UniqueName(r.shortName(x))
	r.components[x] = name
	r.app.Components = append(r.app.Components,
		appmodel.Component{Name: name, Source: x.at(""), Hosts: r.hostsOf(x), Type: shapes()[x.GetKind()].kind})
	c := &r.app.Components[len(r.app.Components)-1]
	c.Spec.Image = pod.Containers[0].Image
	spec, _, _ := unstructured.NestedMap(x.Object, "spec")
	if n, has, _ := unstructured.NestedInt64(x.Object, "spec", "replicas"); has {
		if n < 0 || n > 1000 {
			return x.fault("spec.replicas", "%d is no number of replicas: write a number from 0 to 1000", n)
		}
		c.Spec.Replicas = new(int32(n))
	}
	r.readRuns(x, c)
	if x.GetKind() == "StatefulSet" {
		r.app.Notef(name, x.at(""), "becomes a component without stable names and files of its pods")
	}
	r.noteFields(name, x, "spec", spec, specFields(x.GetKind()))
	return r.readPod(x, c, template, pod)
}

// readRuns reads when and how often a Job or a CronJob runs.
func (r *reader) readRuns(x *object, c *appmodel.Component) {
	path := []string{"spec"}
	switch x.GetKind() {
	case "Job":
	case "CronJob":
		path = append(path, "jobTemplate", "spec")
		c.Schedule, _, _ = unstructured.NestedString(x.Object, "spec", "schedule")
		c.TimeZone, _, _ = unstructured.NestedString(x.Object, "spec", "timeZone")
		c.ConcurrencyPolicy = nexusv1.ConcurrencyPolicy(batchv1.AllowConcurrent) // the default of Kubernetes, and not that of a component
		if policy, has, _ := unstructured.NestedString(x.Object, "spec", "concurrencyPolicy"); has {
			c.ConcurrencyPolicy = nexusv1.ConcurrencyPolicy(policy)
		}
		run, _, _ := unstructured.NestedMap(x.Object, path...)
		r.noteFields(c.Name, x, "spec.jobTemplate.spec", run, specFields("Job"))
	default:
		return
	}
	if n, has, _ := unstructured.NestedInt64(x.Object, append(path, "backoffLimit")...); has {
		c.BackoffLimit = new(int32(min(max(n, 0), 100))) //nolint:gosec // bounded
	}
	if n, has, _ := unstructured.NestedInt64(x.Object, append(path, "activeDeadlineSeconds")...); has {
		c.ActiveDeadlineSeconds = new(min(max(n, 1), 2592000))
	}
}

// shortName is the name of a workload without that of the release, which Helm charts put before it.
func (r *reader) shortName(x *object) string {
	labels := x.GetLabels()
	for _, key := range []string{"app.kubernetes.io/component", "component"} {
		if v := labels[key]; v != "" {
			return v
		}
	}
	name := x.GetName()
	if release := labels["app.kubernetes.io/instance"]; release != "" && len(name) > len(release)+1 && name[:len(release)+1] == release+"-" {
		return name[len(release)+1:]
	}
	return name
}

// hostsOf returns the names of the Services that lead to a workload.
func (r *reader) hostsOf(x *object) []string {
	var out []string
	for _, s := range r.objects {
		if s.GetKind() == "Service" && r.selects(s, x) {
			out = append(out, s.GetName())
		}
	}
	return out
}

// selects reports whether a Service leads to the pods of a workload.
func (r *reader) selects(service, workload *object) bool {
	selector, _, _ := unstructured.NestedStringMap(service.Object, "spec", "selector")
	return hasLabels(workload, selector)
}

// hasLabels reports whether the pods of a workload have all of some labels.
func hasLabels(workload *object, selector map[string]string) bool {
	labels, _, _ := unstructured.NestedStringMap(podsOf(workload), "metadata", "labels")
	for key, value := range selector {
		if labels[key] != value {
			return false
		}
	}
	return len(selector) > 0
}

// componentOf returns the component of a workload of a kind and name.
func (r *reader) componentOf(kind, name string) *appmodel.Component {
	if x := r.find(kind, name); x != nil && r.components[x] != "" {
		return r.app.Component(r.components[x])
	}
	return nil
}

// podFields are the fields of pods that are read, or that the operator sets for every component.
func podFields() map[string]string {
	node := "pods do not share what the node has"
	return map[string]string{
		"containers": "", "volumes": "", "imagePullSecrets": "", "nodeSelector": "", "tolerations": "", "affinity": "",
		"topologySpreadConstraints": "", "securityContext": "",
		"terminationGracePeriodSeconds": "", "restartPolicy": "", "dnsPolicy": "", "schedulerName": "", "automountServiceAccountToken": "",
		"enableServiceLinks": "",
		"serviceAccountName": "the pods have the ServiceAccount of the capability",
		"serviceAccount":     "the pods have the ServiceAccount of the capability",
		"initContainers":     "a component has one container; do the work when the program starts", "hostNetwork": node, "hostPID": node,
		"hostIPC":           node,
		"priorityClassName": "a component has no priority", "hostAliases": "names are resolved by the DNS of the cluster",
	}
}

// readPod reads the fields of the pods.
func (r *reader) readPod(x *object, c *appmodel.Component, template map[string]any, pod *corev1.PodSpec) error {
	const at = "spec.template.spec"
	content, _, _ := unstructured.NestedMap(template, "spec")
	r.noteFields(c.Name, x, at, content, podFields())
	for i, extra := range pod.Containers[1:] {
		r.app.Notef(c.Name, x.at(at+".containers"), "container %s (%d) is not carried over: a component has one container", extra.Name, i+1)
	}
	for _, s := range pod.ImagePullSecrets {
		if appmodel.CheckObjectName(s.Name) == nil && len(c.Spec.ImagePullSecrets) < 16 {
			c.Spec.ImagePullSecrets = append(c.Spec.ImagePullSecrets, nexusv1.ImagePullSecret{Name: s.Name})
			r.app.NeedObject("Secret", s.Name)
		}
	}
	if g := pod.TerminationGracePeriodSeconds; g != nil {
		c.Spec.TerminationGracePeriodSeconds = new(min(max(*g, 1), 7200))
	}
	r.readPlacement(x, c, content)
	r.readContext(x, c, pod)
	containers, _, _ := unstructured.NestedSlice(template, "spec", "containers")
	first, _ := containers[0].(map[string]any)
	return r.readContainer(x, c, first, pod)
}
