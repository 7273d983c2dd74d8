// SPDX-License-Identifier: Apache-2.0

package workloads

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/appmodel"
)

const container = "spec.template.spec.containers[0]"

// containerFields are the fields of containers that are read, or that the operator sets for every component.
func containerFields() map[string]string {
	return map[string]string{
		"name": "", "image": "", "imagePullPolicy": "", "ports": "", "env": "", "envFrom": "", "resources": "", "securityContext": "",
		"volumeMounts":  "",
		"livenessProbe": "", "readinessProbe": "", "startupProbe": "", "terminationMessagePath": "", "terminationMessagePolicy": "",
		"command": "", "args": "", "workingDir": "set WORKDIR in the image", "lifecycle": "set drainSeconds for the time before the end of a pod",
	}
}

// readContainer reads the fields of the first container.
func (r *reader) readContainer(x *object, c *appmodel.Component, content map[string]any, pod *corev1.PodSpec) error {
	k := pod.Containers[0]
	r.noteFields(c.Name, x, container, content, containerFields())
	r.app.SetWords(c, x.at(container+".command"), &c.Spec.Command, k.Command)
	r.app.SetWords(c, x.at(container+".args"), &c.Spec.Args, k.Args)
	r.readPorts(x, c, k)
	if len(k.Resources.Requests)+len(k.Resources.Limits) > 0 {
		c.Spec.Resources = &nexusv1.ComponentResources{Requests: k.Resources.Requests, Limits: k.Resources.Limits}
	}
	for i, source := range k.EnvFrom {
		r.readSource(x, c, fmt.Sprintf("%s.envFrom[%d]", container, i), source)
	}
	for i, e := range k.Env {
		r.readVariable(x, c, fmt.Sprintf("%s.env[%d]", container, i), e)
	}
	r.readProbes(x, c, k)
	r.readVolumes(x, c, pod)
	return nil
}

// readPorts reads the target port of a Service, or the first port.
func (r *reader) readPorts(x *object, c *appmodel.Component, k corev1.Container) {
	if len(k.Ports) == 0 {
		if c.Type == appmodel.TypeService && len(c.Hosts) == 0 {
			c.Type = appmodel.TypeWorker
		}
		return
	}
	chosen := chosenPort(k.Ports, r.servedPort(x))
	if chosen >= 1 && chosen <= 65535 {
		c.Spec.Port = &chosen
	}
	for i, p := range k.Ports {
		if p.ContainerPort != chosen {
			r.app.Notef(c.Name, x.at(fmt.Sprintf("%s.ports[%d]", container, i)), "%d is not carried over: a component has one port, here %d",
				p.ContainerPort, chosen)
		}
	}
}

// chosenPort returns the target port of a Service, or the first port.
func chosenPort(ports []corev1.ContainerPort, to *intstr.IntOrString) int32 {
	for _, p := range ports {
		if to != nil && (to.Type == intstr.String && p.Name == to.StrVal || to.Type == intstr.Int && p.ContainerPort == to.IntVal) {
			return p.ContainerPort
		}
	}
	return ports[0].ContainerPort
}

// servedPort returns the target of the first port of a Service that leads to a workload.
func (r *reader) servedPort(x *object) *intstr.IntOrString {
	for _, s := range r.objects {
		if s.GetKind() != "Service" || !r.selects(s, x) {
			continue
		}
		service := &corev1.Service{}
		if s.decode("", s.Object, service) != nil || len(service.Spec.Ports) == 0 {
			continue
		}
		p := service.Spec.Ports[0]
		if p.TargetPort == (intstr.IntOrString{}) {
			return new(intstr.FromInt32(p.Port))
		}
		return &p.TargetPort
	}
	return nil
}

// readVariable takes a variable over, with its value where that is no secret.
func (r *reader) readVariable(x *object, c *appmodel.Component, at string, e corev1.EnvVar) {
	v := appmodel.Variable{At: x.at(at), Name: e.Name, Value: e.Value}
	if e.ValueFrom == nil {
		if region := appmodel.RegionOf(e.Name, e.Value); region != "" && r.app.Region == "" {
			r.app.Region = region
		}
		r.app.AddVariable(c, v)
		return
	}
	switch from := e.ValueFrom; {
	case from.ConfigMapKeyRef != nil:
		ref := from.ConfigMapKeyRef
		if value, has := r.settings(ref.Name)[ref.Key]; has {
			v.Value = value
			r.app.AddVariable(c, v)
			return
		}
		r.addReference(c, v, &nexusv1.EnvVarSource{ConfigMapKeyRef: selector(ref.Name, ref.Key, ref.Optional)})
		r.app.NeedObject("ConfigMap", ref.Name, ref.Key)
	case from.SecretKeyRef != nil:
		ref := from.SecretKeyRef
		r.addReference(c, v, &nexusv1.EnvVarSource{SecretKeyRef: selector(ref.Name, ref.Key, ref.Optional)})
		r.needSecret(ref.Name, ref.Key)
	case from.FieldRef != nil && podField.MatchString(from.FieldRef.FieldPath):
		r.addReference(c, v, &nexusv1.EnvVarSource{FieldRef: &nexusv1.PodFieldSelector{FieldPath: from.FieldRef.FieldPath}})
	default:
		r.app.Notef(c.Name, v.At,
			"%s is not carried over: a component reads variables from ConfigMaps, Secrets and fields of the pod such as metadata.name", e.Name)
	}
}

var podField = regexp.MustCompile(`^(metadata[.](name|namespace|uid)|spec[.](nodeName|serviceAccountName)|status[.](hostIPs?|podIPs?))$`)

// needSecret records that the pods read a Secret. One of the manifests is not carried over with its values.
func (r *reader) needSecret(name string, keys ...string) {
	r.app.NeedObject("Secret", name, keys...)
}

func selector(name, key string, optional *bool) *nexusv1.EnvKeySelector {
	return &nexusv1.EnvKeySelector{Name: name, Key: key, Optional: optional}
}

// addReference adds a variable with a value that is elsewhere.
func (r *reader) addReference(c *appmodel.Component, v appmodel.Variable, from *nexusv1.EnvVarSource) {
	before := len(c.Spec.Env)
	v.Value = ""
	r.app.AddReference(c, v, from)
	if len(c.Spec.Env) > before && from.SecretKeyRef != nil && r.find("Secret", from.SecretKeyRef.Name) != nil {
		r.app.Notef(c.Name, v.At, "%s reads key %s of Secret %s, whose values are not carried over: create it where the pods run", v.Name,
			from.SecretKeyRef.Key, from.SecretKeyRef.Name)
	}
}

// settings returns the data of a ConfigMap of the manifests.
func (r *reader) settings(name string) map[string]string {
	x := r.find("ConfigMap", name)
	if x == nil {
		return nil
	}
	data, _, _ := unstructured.NestedStringMap(x.Object, "data")
	return data
}

// readSource adds the keys of a ConfigMap as variables, or a reference to an object that is not in the manifests.
func (r *reader) readSource(x *object, c *appmodel.Component, at string, source corev1.EnvFromSource) {
	switch {
	case source.ConfigMapRef != nil && r.find("ConfigMap", source.ConfigMapRef.Name) != nil:
		data := r.settings(source.ConfigMapRef.Name)
		for _, key := range slices.Sorted(maps.Keys(data)) {
			r.app.AddVariable(c, appmodel.Variable{At: x.at(at), Name: source.Prefix + key, Value: data[key]})
		}
		r.find("ConfigMap", source.ConfigMapRef.Name).used = true
	case source.ConfigMapRef != nil:
		ref := &nexusv1.EnvSourceReference{Name: source.ConfigMapRef.Name, Optional: source.ConfigMapRef.Optional}
		r.app.AddSource(c, x.at(at), nexusv1.EnvFromSource{Prefix: source.Prefix, ConfigMapRef: ref})
		r.app.NeedObject("ConfigMap", ref.Name)
	case source.SecretRef != nil:
		ref := &nexusv1.EnvSourceReference{Name: source.SecretRef.Name, Optional: source.SecretRef.Optional}
		r.app.AddSource(c, x.at(at), nexusv1.EnvFromSource{Prefix: source.Prefix, SecretRef: ref})
		r.needSecret(ref.Name, r.keysOf(ref.Name)...)
	}
}

// keysOf returns the keys of a Secret of the manifests.
func (r *reader) keysOf(name string) []string {
	x := r.find("Secret", name)
	if x == nil {
		return nil
	}
	data, _, _ := unstructured.NestedMap(x.Object, "data")
	texts, _, _ := unstructured.NestedMap(x.Object, "stringData")
	keys := append(slices.Collect(maps.Keys(data)), slices.Collect(maps.Keys(texts))...)
	slices.Sort(keys)
	return slices.Compact(keys)
}

// readVolumes takes over empty directories, and notes all other mounts.
func (r *reader) readVolumes(x *object, c *appmodel.Component, pod *corev1.PodSpec) {
	volumes := map[string]corev1.Volume{}
	for _, v := range pod.Volumes {
		volumes[v.Name] = v
	}
	for i, m := range pod.Containers[0].VolumeMounts {
		at := x.at(fmt.Sprintf("%s.volumeMounts[%d]", container, i))
		v, known := volumes[m.Name]
		mountPath := path.Clean(m.MountPath)
		switch {
		case !known || v.EmptyDir == nil:
			r.app.Notef(c.Name, at, "%s at %s is not carried over: %s", m.Name, m.MountPath, volumeRemark(v))
		case m.SubPath != "" || !isScratchPath(mountPath) || len(c.Spec.ScratchVolumes) == 8 ||
			slices.ContainsFunc(c.Spec.ScratchVolumes, func(have nexusv1.ScratchVolume) bool { return have.MountPath == mountPath }):
			r.app.Notef(c.Name, at, "%s at %s is not carried over: scratchVolumes has whole directories at different paths, at most 8", m.Name,
				m.MountPath)
		default:
			out := nexusv1.ScratchVolume{Name: fmt.Sprintf("tmp-%d", len(c.Spec.ScratchVolumes)+1), MountPath: mountPath,
				SizeLimit: v.EmptyDir.SizeLimit}
			if v.EmptyDir.Medium == corev1.StorageMediumMemory {
				out.Medium = v.EmptyDir.Medium
			}
			c.Spec.ScratchVolumes = append(c.Spec.ScratchVolumes, out)
		}
	}
}

var scratchPath = regexp.MustCompile(`^(/[A-Za-z0-9_][A-Za-z0-9._-]*)+$`)

func isScratchPath(p string) bool {
	return len(p) <= 256 && scratchPath.MatchString(p) && !strings.HasPrefix(p, "/var/run/secrets") && !strings.HasPrefix(p, "/run/secrets")
}

// volumeRemark names the replacement of a volume.
func volumeRemark(v corev1.Volume) string {
	switch {
	case v.ConfigMap != nil:
		return "put the files of ConfigMap " + v.ConfigMap.Name + " into the image, or its values into variables"
	case v.Secret != nil:
		return "read Secret " + v.Secret.SecretName + " through variables"
	case v.HostPath != nil:
		return "pods do not see files of the node"
	default:
		return "pods of a capability keep no files; use a bucket of dataServices.s3 or a table of dataServices.dynamodb"
	}
}
