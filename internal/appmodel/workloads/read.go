// SPDX-License-Identifier: Apache-2.0

package workloads

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/nexus-operator/nexus-operator/internal/appmodel"
)

// Options select the manifests to read.
type Options struct {
	// Name of the source in errors, such as the path of a chart.
	Name string
	// Keep names workloads that become components although AWS has a service in their place.
	Keep []string
}

// object is an object of the manifests with the file that it is from.
type object struct {
	*unstructured.Unstructured
	file string
	// used is true when all of it became part of a component.
	used bool
}

// at is the place of a field of an object for people.
func (o *object) at(path string) string {
	out := o.file + ": " + o.GetKind() + " " + o.GetName()
	if path != "" {
		out += ": " + path
	}
	return out
}

func (o *object) fault(path, format string, args ...any) error {
	return fmt.Errorf("%s: %s", o.at(path), fmt.Sprintf(format, args...))
}

// decode reads a part of an object into a type, and names a field if its value has the wrong type.
func (o *object) decode(path string, from, into any) error {
	m, is := from.(map[string]any)
	if !is {
		return o.fault(path, "must be an object")
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(m, into); err != nil {
		return o.fault(path, "%v", err)
	}
	return nil
}

// reader reads all objects.
type reader struct {
	options Options
	app     *appmodel.App
	objects []*object
	// components are the names of the components of workloads.
	components map[*object]string
}

// Read returns the application of manifests.
func Read(text string, o Options) (*appmodel.App, error) {
	r := &reader{options: o, app: &appmodel.App{}, components: map[*object]string{}}
	if err := r.parse(text); err != nil {
		return nil, err
	}
	if err := r.readWorkloads(); err != nil {
		return nil, err
	}
	for _, read := range []func(*object) error{r.readService, r.readIngress, r.readAutoscaler, r.readBudget} {
		for _, x := range r.objects {
			if err := read(x); err != nil {
				return nil, err
			}
		}
	}
	r.noteObjects()
	return r.app, nil
}

// readWorkloads reads the objects that run pods.
func (r *reader) readWorkloads() error {
	for _, name := range r.options.Keep {
		if !slices.ContainsFunc(r.objects, func(x *object) bool { return x.GetName() == name && isWorkload(x) }) {
			return fmt.Errorf("--keep: %s has no workload %q", r.options.Name, name)
		}
	}
	for _, x := range r.objects {
		if isWorkload(x) {
			if err := r.readWorkload(x); err != nil {
				return err
			}
		}
	}
	if len(r.app.Components) == 0 {
		return fmt.Errorf("%s has no Deployment, StatefulSet, Job or CronJob that becomes a component", r.options.Name)
	}
	return nil
}

// source finds the comment of Helm that names the template of an object.
var source = regexp.MustCompile(`(?m)^# Source: (\S+)`)

// separator is the line between two documents.
var separator = regexp.MustCompile(`(?m)^---.*$`)

// parse reads the documents. Lists become their items.
func (r *reader) parse(text string) error {
	for i, doc := range separator.Split(text, -1) {
		file := fmt.Sprintf("%s: document %d", r.options.Name, i+1)
		if m := source.FindStringSubmatch(doc); m != nil {
			file = m[1]
		}
		content := map[string]any{}
		asJSON, err := yaml.YAMLToJSONStrict([]byte(doc))
		if err == nil {
			err = json.Unmarshal(asJSON, &content) // with integers as int64
		}
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if len(content) == 0 {
			continue
		}
		u := &unstructured.Unstructured{Object: content}
		if u.GetKind() == "" || u.GetAPIVersion() == "" {
			return fmt.Errorf("%s: an object needs apiVersion and kind", file)
		}
		for _, item := range itemsOf(u) {
			r.objects = append(r.objects, &object{Unstructured: item, file: file})
		}
	}
	slices.SortStableFunc(r.objects, func(a, b *object) int { return strings.Compare(a.file, b.file) })
	return nil
}

// itemsOf returns the objects of a list, or the object.
func itemsOf(u *unstructured.Unstructured) []*unstructured.Unstructured {
	items, isList := u.Object["items"].([]any)
	if !isList || !strings.HasSuffix(u.GetKind(), "List") {
		return []*unstructured.Unstructured{u}
	}
	var out []*unstructured.Unstructured
	for _, item := range items {
		if m, is := item.(map[string]any); is {
			out = append(out, &unstructured.Unstructured{Object: m})
		}
	}
	return out
}

// find returns an object of a kind and a name.
func (r *reader) find(kind, name string) *object {
	at := slices.IndexFunc(r.objects, func(x *object) bool { return x.GetKind() == kind && x.GetName() == name })
	if at < 0 {
		return nil
	}
	return r.objects[at]
}

// remarks say of kinds why a capability does not have them.
var remarks = map[string]string{
	"ConfigMap":               "its files are not carried over: put them into the image, or its values into variables",
	"Secret":                  "its values are not carried over: create the Secret where the pods run, or declare it in spec.secrets",
	"ServiceAccount":          "the pods have the ServiceAccount of the capability, whose role has the rights on its stores",
	"Role":                    "the pods have no rights in Kubernetes",
	"ClusterRole":             "the pods have no rights in Kubernetes",
	"RoleBinding":             "the pods have no rights in Kubernetes",
	"ClusterRoleBinding":      "the pods have no rights in Kubernetes",
	"NetworkPolicy":           "use security.intents, such as networkSegmentation",
	"PersistentVolumeClaim":   "pods of a capability keep no files; use a bucket of dataServices.s3 or a table of dataServices.dynamodb",
	"DaemonSet":               "a component does not run on every node",
	"Pod":                     "a single pod is no component; Helm runs most of them as tests",
	"ServiceMonitor":          "have your monitoring find the pods by their labels app.kubernetes.io/*",
	"PodMonitor":              "have your monitoring find the pods by their labels app.kubernetes.io/*",
	"ExternalSecret":          "a secret of AWS Secrets Manager is declared in spec.secrets",
	"Certificate":             "set ingress.host and ingress.hostedZoneName, and the operator requests the certificate",
	"VirtualService":          "requests come through spec.ingress",
	"Gateway":                 "set ingress.gateway",
	"HTTPRoute":               "set ingress.gateway",
	"HorizontalPodAutoscaler": "it scales no component",
	"PodDisruptionBudget":     "it is for no component",
	"Service":                 "it leads to no component",
	"Namespace":               "the capability has the namespace {name}-{environment}",
}

// noteObjects notes every object that became no part of a component.
func (r *reader) noteObjects() {
	for _, x := range r.objects {
		if x.used {
			continue
		}
		text := remarks[x.GetKind()]
		if text == "" {
			text = "a capability has no such object; apply it beside the capability"
		}
		r.app.Notef("", x.at(""), "is not carried over: %s", text)
	}
}

// noteFields notes the fields of an object that were not read.
func (r *reader) noteFields(component string, x *object, path string, content map[string]any, read map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(content)) {
		text, known := read[key]
		switch {
		case isEmpty(content[key]) || known && text == "":
			continue
		case !known:
			text = "a capability has no such field"
		}
		r.app.Notef(component, x.at(strings.TrimPrefix(path+"."+key, ".")), "is not carried over: %s", text)
	}
}

// isEmpty reports whether a value says nothing.
func isEmpty(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	case bool:
		return !v
	case string:
		return v == ""
	}
	return false
}
