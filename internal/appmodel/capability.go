// SPDX-License-Identifier: Apache-2.0

package appmodel

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
)

// Manifest is the capability that declares an application.
type Manifest struct {
	Object *nexusv1.NexusAICapability
	// Text is the object as YAML, with comments for everything that it does not carry over.
	Text []byte
	// Notes lists those of the application, and those that writing it added.
	Notes []Note
	// Needs are the objects that a person must create before the pods start.
	Needs []Need
}

// Roles name the components that the fields frontend and backend of a capability describe. Both may be empty: all others are in the list
// of components.
type Roles struct{ Frontend, Backend string }

// maxListed bounds the components of a capability, without frontend and backend.
const maxListed = 16

// These ports count where a component names none.
const (
	frontendPort = 8080
	backendPort  = 8000
)

// Write makes the manifest of an application. From names its source.
func (a *App) Write(roles Roles, from string) (*Manifest, error) {
	if a.Namespace == "" {
		a.Namespace = a.prefix()
	}
	if err := a.checkRoles(roles); err != nil {
		return nil, err
	}
	a.rewriteHosts(a.addresses(roles))
	c := &nexusv1.NexusAICapability{
		TypeMeta:   metav1.TypeMeta{APIVersion: nexusv1.GroupVersion.String(), Kind: "NexusAICapability"},
		ObjectMeta: metav1.ObjectMeta{Name: a.prefix(), Namespace: a.Namespace},
		Spec: nexusv1.NexusAICapabilitySpec{
			CapabilityName: a.Name, Environment: a.Environment, Version: a.Version, Region: a.Region,
			Ingress: a.ingress(), DataServices: a.dataServices(), DefaultSecrets: nexusv1.DefaultSecretsNone, Secrets: a.secrets(),
			DeletionPolicy: a.DeletionPolicy,
		},
	}
	if a.Provider != "" {
		c.Spec.ProviderRef = &nexusv1.ProviderReference{Name: a.Provider}
	}
	places, err := a.placeComponents(c, roles)
	if err != nil {
		return nil, err
	}
	text, err := writeYAML(written(c), a.head(from), a.comments(places))
	if err != nil {
		return nil, err
	}
	return &Manifest{Object: c, Text: text, Notes: a.Notes, Needs: a.needsOf(places)}, nil
}

// needsOf returns the objects that the components in the manifest refer to, and not those of components that it does not have.
func (a *App) needsOf(places []place) []Need {
	referred := map[string]bool{}
	for _, p := range places {
		addReferences(a.Component(p.component).Spec, referred)
	}
	return slices.DeleteFunc(slices.Clone(a.Needs), func(n Need) bool { return !referred[n.Kind+n.Name] })
}

// addReferences adds the Secrets and ConfigMaps that the pods of a component read.
func addReferences(spec nexusv1.ComponentSpec, to map[string]bool) {
	for _, s := range spec.ImagePullSecrets {
		to["Secret"+s.Name] = true
	}
	for _, e := range spec.EnvFrom {
		if e.SecretRef != nil {
			to["Secret"+e.SecretRef.Name] = true
		}
		if e.ConfigMapRef != nil {
			to["ConfigMap"+e.ConfigMapRef.Name] = true
		}
	}
	for _, e := range spec.Env {
		if e.ValueFrom == nil {
			continue
		}
		if ref := e.ValueFrom.SecretKeyRef; ref != nil {
			to["Secret"+ref.Name] = true
		}
		if ref := e.ValueFrom.ConfigMapKeyRef; ref != nil {
			to["ConfigMap"+ref.Name] = true
		}
	}
}

// prefix begins the names of everything of the capability, and names the namespace of its pods.
func (a *App) prefix() string { return a.Name + "-" + a.Environment }

// checkRoles requires that the roles name two components, if any.
func (a *App) checkRoles(roles Roles) error {
	for flag, name := range map[string]string{"--frontend": roles.Frontend, "--backend": roles.Backend} {
		if name != "" && a.Component(name) == nil {
			return fmt.Errorf("%s: there is no component %q; there are %s", flag, name, strings.Join(a.names(), ", "))
		}
		if c := a.Component(name); c != nil && (c.Type == TypeJob || c.Type == TypeCronJob) {
			return fmt.Errorf("%s: the component %q is a %s, which answers no requests", flag, name, c.Type)
		}
	}
	if roles.Frontend != "" && roles.Frontend == roles.Backend {
		return fmt.Errorf("--frontend and --backend both name %q", roles.Frontend)
	}
	return nil
}

func (a *App) names() []string {
	out := make([]string, len(a.Components))
	for i, c := range a.Components {
		out[i] = c.Name
	}
	slices.Sort(out)
	return out
}

// place locates a component in the manifest.
type place struct{ component, path string }

// placeComponents writes the components into a capability, and returns where each of them stands.
func (a *App) placeComponents(c *nexusv1.NexusAICapability, roles Roles) ([]place, error) {
	var places []place
	for i := range a.Components {
		k := &a.Components[i]
		spec := a.routed(k, roles)
		switch k.Name {
		case roles.Frontend:
			c.Spec.Frontend = nexusv1.FrontendSpec{ComponentSpec: spec}
			places = append(places, place{k.Name, "spec.frontend"})
		case roles.Backend:
			c.Spec.Backend = nexusv1.BackendSpec{ComponentSpec: spec}
			places = append(places, place{k.Name, "spec.backend"})
		default:
			c.Spec.Components = append(c.Spec.Components, k.listed(spec))
			places = append(places, place{k.Name, "spec.components[" + k.Name + "]"})
		}
	}
	switch {
	case len(places) == 0:
		return nil, errors.New("no component is left that a capability can have: it needs a Service, a Worker, a Job or a CronJob")
	case len(c.Spec.Components) > maxListed:
		return nil, fmt.Errorf("the application has %d components, and a capability at most %d besides frontend and backend: divide it into several capabilities", len(c.Spec.Components), maxListed)
	}
	return places, nil
}

// listedTypes are the types of the components in the list of a capability.
var listedTypes = map[Type]nexusv1.ComponentType{"": "", TypeService: "", TypeWorker: nexusv1.ComponentWorker,
	TypeJob: nexusv1.ComponentJob, TypeCronJob: nexusv1.ComponentCronJob}

// listed returns a component of the list of a capability. A Job and a CronJob have no field that is for pods which are called or kept
// running.
func (c *Component) listed(spec nexusv1.ComponentSpec) nexusv1.NamedComponentSpec {
	out := nexusv1.NamedComponentSpec{Name: c.Name, Type: listedTypes[c.Type], ComponentSpec: spec}
	if c.Type != TypeJob && c.Type != TypeCronJob {
		return out
	}
	out.Port, out.Replicas, out.Service, out.Probes, out.PDB, out.Autoscaling, out.Routes, out.DrainSeconds = nil, nil, nil, nil, nil, nil,
		nil, nil
	out.BackoffLimit, out.ActiveDeadlineSeconds = c.BackoffLimit, c.ActiveDeadlineSeconds
	if c.Type == TypeCronJob {
		out.Schedule, out.TimeZone, out.ConcurrencyPolicy = c.Schedule, c.TimeZone, c.ConcurrencyPolicy
	}
	return out
}

// routed returns the spec of a component with its routes. The default path of frontend or backend that leads to another component is
// replaced by an empty list.
func (a *App) routed(k *Component, roles Roles) nexusv1.ComponentSpec {
	spec := k.Spec
	routes := []nexusv1.Route{}
	for _, r := range k.Routes {
		routes = append(routes, nexusv1.Route{Path: r})
	}
	taken := k.Name == roles.Frontend && a.hasRoute("/") || k.Name == roles.Backend && a.hasRoute("/api")
	if len(routes) > 0 || taken {
		spec.Routes = &routes
	}
	return spec
}

// hasRoute reports whether a path was given to a component.
func (a *App) hasRoute(path string) bool {
	return slices.ContainsFunc(a.Components, func(c Component) bool { return slices.Contains(c.Routes, path) })
}

// addresses returns where the pods reach each component, by the names that it has in its source.
func (a *App) addresses(roles Roles) map[string]address {
	out := map[string]address{}
	for i := range a.Components {
		c := &a.Components[i]
		to, known := a.addressOf(c, roles)
		for _, host := range c.Hosts {
			if known {
				out[host] = to
			}
		}
	}
	return out
}

// addressOf returns where the pods reach a component; false for one that answers no requests.
func (a *App) addressOf(c *Component, roles Roles) (address, bool) {
	switch c.Name {
	case roles.Frontend:
		return address{a.prefix() + "-frontend-svc", portOr(c, frontendPort)}, true
	case roles.Backend:
		return address{a.prefix() + "-backend-svc-internal", portOr(c, backendPort)}, true
	}
	if c.Type != TypeService && c.Type != "" {
		return address{}, false
	}
	return address{a.prefix() + "-" + c.Name + "-svc", portOr(c, frontendPort)}, true
}

func portOr(c *Component, fallback int32) int32 {
	if c.Spec.Port != nil {
		return *c.Spec.Port
	}
	return fallback
}

func (a *App) ingress() *nexusv1.IngressSpec {
	if a.Ingress.Disabled {
		return &nexusv1.IngressSpec{Enabled: new(false)}
	}
	in := &nexusv1.IngressSpec{Scheme: nexusv1.SchemeInternal, Host: a.Ingress.Host, HealthCheckPath: cmp.Or(a.Ingress.HealthPath, "/health")}
	if a.Ingress.Public {
		in.Scheme = nexusv1.SchemeInternetFacing
	}
	return in
}

// dataServices declares the stores; nil where there are none, because an empty list would mean the stores of the original documents.
func (a *App) dataServices() *nexusv1.DataServicesSpec {
	if len(a.Tables)+len(a.Buckets)+len(a.Queues)+len(a.Topics)+len(a.Models) == 0 {
		return nil
	}
	d := &nexusv1.DataServicesSpec{DynamoDB: tables(a.Tables), S3: buckets(a.Buckets)}
	for _, name := range a.Queues {
		d.Queues = append(d.Queues, nexusv1.QueueSpec{Name: name, DeadLetter: &nexusv1.DeadLetterSpec{}})
	}
	for _, name := range a.Topics {
		d.Topics = append(d.Topics, nexusv1.TopicSpec{Name: name})
	}
	if len(a.Models) > 0 {
		d.Bedrock = &nexusv1.BedrockSpec{}
		for _, m := range a.Models {
			d.Bedrock.Models = append(d.Bedrock.Models, nexusv1.BedrockModel{Name: m.Name, ModelID: m.ID, InferenceProfile: m.Profile})
		}
	}
	return d
}

func tables(names []string) *nexusv1.DynamoDBSpec {
	if len(names) == 0 {
		return nil
	}
	out := &nexusv1.DynamoDBSpec{}
	for _, name := range names {
		out.Tables = append(out.Tables, nexusv1.TableSpec{Name: name, HashKey: &nexusv1.KeyAttribute{Name: "id", Type: "S"}})
	}
	return out
}

func buckets(names []string) *nexusv1.S3Spec {
	if len(names) == 0 {
		return nil
	}
	out := &nexusv1.S3Spec{}
	for _, name := range names {
		out.Buckets = append(out.Buckets, nexusv1.BucketSpec{Name: name})
	}
	return out
}

func (a *App) secrets() []nexusv1.SecretSpec {
	var out []nexusv1.SecretSpec
	for _, s := range a.Secrets {
		out = append(out, nexusv1.SecretSpec{Name: s.Name, Placeholder: &nexusv1.PlaceholderSpec{Keys: s.Keys}})
	}
	return out
}

// written is a capability as people write it: without status.
func written(c *nexusv1.NexusAICapability) any {
	return struct {
		APIVersion string                        `json:"apiVersion"`
		Kind       string                        `json:"kind"`
		Metadata   map[string]string             `json:"metadata"`
		Spec       nexusv1.NexusAICapabilitySpec `json:"spec"`
	}{c.APIVersion, c.Kind, map[string]string{"name": c.Name, "namespace": c.Namespace}, c.Spec}
}

// head returns the lines above the manifest.
func (a *App) head(from string) []string {
	out := []string{"The application " + a.Name + cmp.Or(from, "") +
		", written by nexusctl init. Every field: docs/reference/nexusaicapability.md"}
	for _, n := range a.Notes {
		if n.Component == "" {
			out = append(out, n.String())
		}
	}
	return out
}

// comments returns the texts above the fields.
func (a *App) comments(places []place) comments {
	of := comments{
		"spec.ingress": {"A load balancer leads requests to the components. It asks healthCheckPath, and sends requests to pods that answer 2xx or 3xx."},
		"spec.dataServices.dynamodb": {"Tables " + a.prefix() +
			"-NAME, whose key is immutable. Pods have the names as NEXUS_DYNAMODB_TABLE_NAME."},
		"spec.dataServices.s3":     {"Buckets " + a.prefix() + "-NAME. Pods have the names as NEXUS_S3_BUCKET_NAME."},
		"spec.dataServices.queues": {"Queues of Amazon SQS. Pods have the URLs as NEXUS_SQS_QUEUE_URL_NAME."},
		"spec.dataServices.topics": {"Topics of Amazon SNS. Pods have the ARNs as NEXUS_SNS_TOPIC_ARN_NAME."},
		"spec.dataServices.bedrock": {"Models that the pods may invoke. Their role needs a permissions boundary: that of an AWSProvider that spec.providerRef names, " +
			"or the operator's --default-permissions-boundary."},
		"spec.defaultSecrets": {"None: the capability has only the secrets of spec.secrets. Without the field it has six more, each of which has a price."},
		"spec.secrets":        {"Secrets in AWS Secrets Manager, below NEXUS_SECRETS_PREFIX. Fill them in with nexusctl secrets set."},
		"spec.deletionPolicy": {"Delete | Retain | Orphan: what happens to the AWS resources when the capability is deleted."},
	}
	for _, p := range places {
		c := a.Component(p.component)
		if c.Source != "" {
			of[p.path] = append(of[p.path], "From "+c.Source+".")
		}
		for _, n := range a.Notes {
			if n.Component == c.Name {
				of[p.path] = append(of[p.path], n.String())
			}
		}
	}
	for _, n := range a.Notes { // of components that the manifest does not have
		if n.Component != "" && !slices.ContainsFunc(places, func(p place) bool { return p.component == n.Component }) {
			of["spec"] = append(of["spec"], n.String())
		}
	}
	return of
}

// NextCommands are the commands that bring the application to a cluster, from a file.
func (m *Manifest) NextCommands(file string) []string {
	ns := m.Object.Spec.CapabilityName + "-" + m.Object.Spec.Environment
	out := []string{"nexusctl validate -f " + file, "nexusctl render -f " + file, "nexusctl plan -f " + file, "nexusctl deploy"}
	for _, name := range namespaces(ns, m) {
		out = append(out, "kubectl create namespace "+name)
	}
	for _, n := range m.Needs {
		out = append(out, n.command(ns))
	}
	return append(out, "kubectl apply -f "+file, "nexusctl monitor ncap/"+m.Object.Name+" -n "+m.Object.Namespace)
}

// namespaces returns those that must exist first: that of the object, and that of the pods where something must be there before them.
func namespaces(pods string, m *Manifest) []string {
	if len(m.Needs) == 0 || m.Object.Namespace == pods {
		return []string{m.Object.Namespace}
	}
	return []string{m.Object.Namespace, pods}
}

// command creates the object that a manifest needs.
func (n Need) command(namespace string) string {
	out := "kubectl create configmap " + n.Name
	if n.Kind == "Secret" {
		out = "kubectl create secret generic " + n.Name
	}
	out += " -n " + namespace
	if n.File != "" {
		return out + " --from-env-file=" + quoted(n.File)
	}
	for _, key := range n.Keys {
		out += " --from-literal=" + key + "=…"
	}
	return out
}

// quoted quotes a path for a shell where that is necessary.
func quoted(path string) string {
	if strings.ContainsAny(path, " '\"$`\\*?;&|<>()!") {
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return path
}
