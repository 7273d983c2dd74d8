// SPDX-License-Identifier: Apache-2.0

package appmodel

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
)

// App is an application before it is a capability.
type App struct {
	// Name and Environment begin every derived name, and Namespace holds the object; default {name}-{environment}.
	Name, Environment, Namespace string
	// Version of the application, Region of its AWS resources, and Provider, the AWSProvider that it names; both may be empty.
	Version, Region, Provider string
	// Components run containers.
	Components []Component
	// Left are the services that became no component, such as databases: the variables of others may name them.
	Left []string
	// Tables, Buckets, Queues and Topics name stores by their purpose.
	Tables, Buckets, Queues, Topics []string
	// Secrets are kept in AWS Secrets Manager, with values that people fill in.
	Secrets []Secret
	// Models of Amazon Bedrock that the components invoke.
	Models []Model
	// Ingress describes how users reach the application.
	Ingress Ingress
	// DeletionPolicy decides whether AWS resources are kept at the deletion; empty leaves the default.
	DeletionPolicy nexusv1.DeletionPolicy
	// Needs are the Kubernetes objects that the manifest refers to and a person must create.
	Needs []Need
	// Notes list the settings that the manifest does not carry over.
	Notes []Note
}

// Type decides how a component runs.
type Type string

// The types of components: a Service answers requests, a Worker does not, a Job runs once, and a CronJob runs on a schedule.
const (
	TypeService Type = "Service"
	TypeWorker  Type = "Worker"
	TypeJob     Type = "Job"
	TypeCronJob Type = "CronJob"
)

// Component is one container image that runs in pods.
type Component struct {
	// Name is a DNS label; Hosts are the names of the component in its source, for use by other components.
	Name  string
	Hosts []string
	// Source is the place that the component was read from, such as "docker-compose.yaml:3: services.web".
	Source string
	Type   Type
	// Schedule of a CronJob, its time zone, and its policy for runs that overlap.
	Schedule, TimeZone string
	ConcurrencyPolicy  nexusv1.ConcurrencyPolicy
	// BackoffLimit and ActiveDeadlineSeconds bound the runs of a Job and a CronJob.
	BackoffLimit          *int32
	ActiveDeadlineSeconds *int64
	// Routes are the paths that lead to it from outside.
	Routes []string
	// Published is true for a component that its source makes reachable from outside.
	Published bool
	// Built names the build context of an image that is not in a registry yet.
	Built string
	// Spec has image, port, environment and all other settings of the container.
	Spec nexusv1.ComponentSpec
}

// Ingress describes how users reach an application.
type Ingress struct {
	// Disabled leaves the application reachable only inside the cluster.
	Disabled bool
	// Public makes the load balancer reachable from the internet.
	Public bool
	// Host is a name in DNS; HealthPath answers 2xx when a component can serve.
	Host, HealthPath string
}

// Secret is a secret in AWS Secrets Manager, a JSON object with these keys.
type Secret struct {
	Name string
	Keys []nexusv1.SecretKey
}

// Model is a foundation model of Amazon Bedrock, by its purpose.
type Model struct {
	Name, ID string
	// Profile is the inference profile for calls of the model; empty for a direct invocation.
	Profile string
}

// Need is a Secret or ConfigMap in the namespace of the pods that must exist before they start.
type Need struct {
	// Kind is Secret or ConfigMap.
	Kind, Name string
	// Keys that the components read; File is the env file with all of them.
	Keys []string
	File string
}

// Note says about one field of a source why the manifest does not carry it over, or how it was changed.
type Note struct {
	// At is the place, such as "docker-compose.yaml:12: services.web.volumes[0]".
	At string
	// Component names the component that the note is about; empty for the whole application.
	Component string
	// Text describes the problem and the remedy. It never has the value of a secret.
	Text string
}

// String returns the note as one line that every terminal can show.
func (n Note) String() string {
	return strings.Join(strings.Fields(strings.Map(printable, n.At+": "+n.Text)), " ")
}

// printable replaces characters that a terminal or a comment must not have.
func printable(r rune) rune {
	if unicode.IsSpace(r) {
		return ' '
	}
	if !unicode.IsPrint(r) || isControl(r) {
		return '?'
	}
	return r
}

// Notef adds a note.
func (a *App) Notef(component, at, format string, args ...any) {
	a.Notes = append(a.Notes, Note{At: at, Component: component, Text: fmt.Sprintf(format, args...)})
}

// Component returns the component of a name, or nil.
func (a *App) Component(name string) *Component {
	for i := range a.Components {
		if a.Components[i].Name == name {
			return &a.Components[i]
		}
	}
	return nil
}

// need records that the manifest refers to an object, once for each name.
func (a *App) need(kind, name string, keys ...string) *Need {
	at := slices.IndexFunc(a.Needs, func(n Need) bool { return n.Kind == kind && n.Name == name })
	if at < 0 {
		a.Needs, at = append(a.Needs, Need{Kind: kind, Name: name}), len(a.Needs)
	}
	n := &a.Needs[at]
	for _, k := range keys {
		if !slices.Contains(n.Keys, k) {
			n.Keys = append(n.Keys, k)
		}
	}
	return n
}

// NeedObject records that pods read keys of a Secret or ConfigMap that a person must create.
func (a *App) NeedObject(kind, name string, keys ...string) { a.need(kind, name, keys...) }

// labelPattern is that of names of components and stores.
var labelPattern = regexp.MustCompile(`^[a-z]([a-z0-9-]*[a-z0-9])?$`)

// Label turns a name into one that the manifest may have, of at most a number of characters; empty where nothing of it can stay.
func Label(name string, most int) string {
	var out strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			out.WriteRune(r)
		case out.Len() > 0 && !strings.HasSuffix(out.String(), "-"):
			out.WriteByte('-')
		}
	}
	label := strings.TrimLeft(out.String(), "-0123456789")
	return strings.TrimRight(label[:min(len(label), most)], "-")
}

// maxComponent bounds the names of components: with those of the application and the environment they have at most 57 characters.
const maxComponent = 16

// reservedComponent is the name of an object of every capability.
const reservedComponent = "policies"

// CheckComponent checks the name of a component.
func CheckComponent(name string) error {
	switch {
	case Label(name, maxComponent) != name || name == "":
		return fmt.Errorf("%q is no name of a component: write at most %d small letters, digits and hyphens, with a letter first", name,
			maxComponent)
	case name == reservedComponent:
		return fmt.Errorf("%q is the name of an object of every capability", name)
	}
	return nil
}

// UniqueName returns a name for a component that no other one has.
func (a *App) UniqueName(of string) string {
	base := Label(of, maxComponent)
	if base == "" {
		base = "app"
	}
	name := base
	for n := 2; a.Component(name) != nil || name == reservedComponent; n++ {
		suffix := fmt.Sprintf("-%d", n)
		name = strings.TrimRight(base[:min(len(base), maxComponent-len(suffix))], "-") + suffix
	}
	return name
}

// maxNames bounds capabilityName and environment together.
const maxNames = 41

// DefaultName turns a name, such as that of a folder, into a capabilityName.
func DefaultName(of, environment string) string {
	name := Label(of, min(40, maxNames-len(environment)))
	if name == "" || CheckName(name, environment) != nil {
		name = Label("app-"+name, min(40, maxNames-len(environment)))
	}
	return name
}
