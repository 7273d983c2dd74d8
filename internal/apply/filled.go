// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// anyValue stands for values that the API server or a controller assigns once.
type anyValue struct{}

// podFilled are the defaults of a pod template's spec, by path without the elements of lists. The empty maps are those that Go types
// write where nothing is set.
// https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/
var podFilled = map[string]any{
	"restartPolicy": "Always", "dnsPolicy": "ClusterFirst", "schedulerName": "default-scheduler", "securityContext": map[string]any{},
	"terminationGracePeriodSeconds": int64(30),
	"volumes.configMap.defaultMode": int64(420), "volumes.secret.defaultMode": int64(420), "volumes.projected.defaultMode": int64(420),
	"volumes.downwardAPI.defaultMode": int64(420),
}

// containerFilled are the defaults of a container.
var containerFilled = map[string]any{
	"imagePullPolicy": anyValue{}, "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
	"resources": map[string]any{}, "ports.protocol": "TCP", "resources.requests": anyValue{},
	"env.valueFrom.fieldRef.apiVersion": "v1", "env.valueFrom.resourceFieldRef.divisor": "0",
	"lifecycle.postStart.httpGet.scheme": "HTTP", "lifecycle.preStop.httpGet.scheme": "HTTP",
}

// probeFilled are the defaults of a probe.
var probeFilled = map[string]any{
	"httpGet.scheme": "HTTP", "timeoutSeconds": int64(1), "periodSeconds": int64(10), "successThreshold": int64(1),
	"failureThreshold": int64(3), "grpc.service": "",
}

// filled are the fields that the API server fills in where an object does not name them, of the kinds that capabilities consist of.
var filled = map[string]map[string]any{
	"/ConfigMap": {},
	"/Service": {
		"spec.type": "ClusterIP", "spec.clusterIP": anyValue{}, "spec.clusterIPs": anyValue{}, "spec.ipFamilies": anyValue{},
		"spec.ipFamilyPolicy": anyValue{}, "spec.internalTrafficPolicy": "Cluster", "spec.externalTrafficPolicy": "Cluster",
		"spec.sessionAffinity": "None", "spec.allocateLoadBalancerNodePorts": true, "spec.healthCheckNodePort": anyValue{},
		"spec.loadBalancerClass": anyValue{}, "spec.ports.protocol": "TCP", "spec.ports.targetPort": anyValue{},
		"spec.ports.nodePort": anyValue{},
	},
	"networking.k8s.io/Ingress":           {"spec.ingressClassName": anyValue{}},
	"networking.k8s.io/NetworkPolicy":     {"spec.policyTypes": anyValue{}},
	"policy/PodDisruptionBudget":          {},
	"autoscaling/HorizontalPodAutoscaler": {"spec.minReplicas": int64(1), "spec.metrics": anyValue{}},
	"apps/Deployment": merged(map[string]any{
		"spec.replicas": anyValue{}, "spec.progressDeadlineSeconds": int64(600), "spec.revisionHistoryLimit": int64(10),
		"spec.strategy": map[string]any{}, "spec.strategy.type": "RollingUpdate",
		"spec.strategy.rollingUpdate.maxSurge": "25%", "spec.strategy.rollingUpdate.maxUnavailable": "25%",
	}, podTemplateFilled("spec.template.spec.")),
	"batch/CronJob": merged(map[string]any{
		"spec.concurrencyPolicy": "Allow", "spec.failedJobsHistoryLimit": int64(1), "spec.successfulJobsHistoryLimit": int64(3),
		"spec.suspend": false,
	}, podTemplateFilled("spec.jobTemplate.spec.template.spec.")),
}

func merged(all ...map[string]any) map[string]any {
	out := map[string]any{}
	for _, m := range all {
		maps.Copy(out, m)
	}
	return out
}

func under(path string, m map[string]any) map[string]any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		out[path+k] = v
	}
	return out
}

func podTemplateFilled(path string) map[string]any {
	out := under(path, podFilled)
	for _, list := range []string{"containers.", "initContainers."} {
		maps.Copy(out, under(path+list, containerFilled))
		for _, probe := range []string{"livenessProbe.", "readinessProbe.", "startupProbe."} {
			maps.Copy(out, under(path+list+probe, probeFilled))
		}
	}
	return out
}

// unexpectedPaths lists the topmost fields of the spec and the data of a child that its desired object does not name and that the API
// server does not fill in; none for kinds with unknown defaults. Differences has the fields that have one owner as a whole.
func unexpectedPaths(want, live *unstructured.Unstructured) []fieldpath.Path {
	gvk := want.GroupVersionKind()
	known, ok := filled[gvk.Group+"/"+gvk.Kind]
	if !ok {
		return nil
	}
	u := unexpected{keys: mergeKeys(want), filled: known}
	for _, root := range soleRoots {
		have, _ := live.Object[root].(map[string]any)
		desired, _ := want.Object[root].(map[string]any)
		u.maps(place{shown: root, fields: root}, fieldpath.MakePathOrDie(root), desired, have)
	}
	return u.found
}

type unexpected struct {
	keys   func(place) []string
	filled map[string]any
	found  []fieldpath.Path
}

func (u *unexpected) maps(p place, path fieldpath.Path, want, have map[string]any) {
	for _, k := range sortedKeys(have) {
		at, below := p.field(k), append(path.Copy(), fieldpath.PathElement{FieldName: &k})
		w, named := want[k]
		named = named && (w != "" || have[k] == "")
		if below.Equals(podAnnotations) && !named {
			w, named = map[string]any{}, true
		}
		switch {
		case named:
			u.value(at, below, w, have[k])
		case k == "serviceAccount" && have[k] == want["serviceAccountName"]: // the former name of the field, which the API server keeps equal
		case !u.isFilled(at, have[k]) && !isLeftToOthers(below):
			u.found = append(u.found, below)
		}
	}
}

func (u *unexpected) value(p place, path fieldpath.Path, want, have any) {
	if p.atomic {
		return
	}
	switch have := have.(type) {
	case map[string]any:
		if want, ok := want.(map[string]any); ok {
			u.maps(p, path, want, have)
		}
	case []any:
		if want, ok := want.([]any); ok && u.keys(p) != nil {
			u.keyed(p, path, want, have)
		}
	}
}

func (u *unexpected) keyed(p place, path fieldpath.Path, want, have []any) {
	keys, desired := u.keys(p), map[string]any{}
	for _, e := range want {
		desired[listKeyOf(keys, e)] = e
	}
	for _, e := range have {
		id := listKeyOf(keys, e)
		below := append(path.Copy(), elementWith(keys, e))
		if w, named := desired[id]; named {
			u.value(p.element(id, true), below, w, e)
		} else {
			u.found = append(u.found, below)
		}
	}
}

// elementWith is the element of a path that leads to an element of a list with merge keys.
func elementWith(keys []string, element any) fieldpath.PathElement {
	m, _ := element.(map[string]any)
	var of value.FieldList
	for _, k := range slices.Sorted(slices.Values(keys)) {
		if v, ok := m[k]; ok {
			of = append(of, value.Field{Name: k, Value: value.NewValueInterface(v)})
		}
	}
	return fieldpath.PathElement{Key: &of}
}

// isFilled reports whether the API server fills in a value at a place. Null says nothing.
func (u *unexpected) isFilled(p place, have any) bool {
	fill, known := u.filled[p.fields]
	if _, assigned := fill.(anyValue); assigned || have == nil || known &&
		value.Equals(value.NewValueInterface(fill), value.NewValueInterface(have)) {
		return true
	}
	m, ok := have.(map[string]any)
	if !ok || len(m) == 0 {
		return false
	}
	for k, v := range m {
		if !u.isFilled(p.field(k), v) {
			return false
		}
	}
	return true
}

// podAnnotations holds restartedAt, also where the desired template has no annotations.
var podAnnotations = fieldpath.MakePathOrDie("spec", "template", "metadata", "annotations")
