// SPDX-License-Identifier: Apache-2.0

package appmodel

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
)

var variablePattern = regexp.MustCompile(`^[-._a-zA-Z][-._a-zA-Z0-9]*$`)

const (
	maxVariables = 64
	maxSources   = 16
	maxValue     = 4096
)

// Variable is an environment variable of a source.
type Variable struct {
	// At is the place of the variable in its source.
	At, Name, Value string
	// Secret is true where the source shows that the value is a secret, whatever its name.
	Secret bool
}

// credentials are the variables that the AWS SDKs read credentials from. Pods have those of their role.
var credentials = []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_SHARED_CREDENTIALS_FILE",
	"AWS_CONFIG_FILE"}

// AddVariable adds a variable to a component. A value that may be a secret is not written: the variable then refers to a key of the Secret
// {component}-env.
func (a *App) AddVariable(c *Component, v Variable) {
	if reason := refusedVariable(v); reason != "" {
		a.Notef(c.Name, v.At, "%s %s", Shown(v.Name), reason)
		return
	}
	c.dropVariable(v.Name) // of two with one name the last counts
	out := nexusv1.EnvVar{Name: v.Name, Value: v.Value}
	switch {
	case len(c.Spec.Env) >= maxVariables:
		a.Notef(c.Name, v.At, "%s is not carried over: a component has at most %d variables; put others into a Secret or ConfigMap, and name that in envFrom", v.Name, maxVariables)
		return
	case v.Secret || IsSecret(v.Name, v.Value):
		secret := c.Name + "-env"
		out = nexusv1.EnvVar{Name: v.Name, ValueFrom: &nexusv1.EnvVarSource{SecretKeyRef: &nexusv1.EnvKeySelector{Name: secret, Key: v.Name}}}
		a.Notef(c.Name, v.At, "%s may be a secret: its value is not written, and the variable reads key %s of Secret %s, which you create",
			v.Name, v.Name, secret)
		a.need("Secret", secret, v.Name)
	case len(v.Value) > maxValue:
		a.Notef(c.Name, v.At, "%s is not carried over: its value has more than %d characters; put it into a ConfigMap, and name that in envFrom",
			v.Name, maxValue)
		return
	case strings.ContainsFunc(v.Value, isControl):
		a.Notef(c.Name, v.At, "%s is not carried over: its value has control characters; put it into a ConfigMap, and name that in envFrom",
			v.Name)
		return
	}
	c.Spec.Env = append(c.Spec.Env, out)
}

// AddReference adds a variable with a value that a pod reads from elsewhere.
func (a *App) AddReference(c *Component, v Variable, from *nexusv1.EnvVarSource) {
	reason := refusedVariable(v)
	if reason == "" && len(c.Spec.Env) >= maxVariables {
		reason = "is not carried over: a component has too many variables"
	}
	if reason != "" {
		a.Notef(c.Name, v.At, "%s %s", Shown(v.Name), reason)
		return
	}
	c.dropVariable(v.Name)
	c.Spec.Env = append(c.Spec.Env, nexusv1.EnvVar{Name: v.Name, ValueFrom: from})
}

// isControl reports whether a manifest cannot have a character in every reader's YAML.
func isControl(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' || r == '\u2028' || r == '\u2029' || r == '\ufeff' || r == unicode.ReplacementChar ||
		r >= 0xfffe && r <= 0xffff
}

// dropVariable removes a variable that a later one replaces.
func (c *Component) dropVariable(name string) {
	c.Spec.Env = slices.DeleteFunc(c.Spec.Env, func(e nexusv1.EnvVar) bool { return e.Name == name })
}

// refusedVariable returns why a capability cannot have a variable; empty where it can.
func refusedVariable(v Variable) string {
	switch name := v.Name; {
	case name == "AWS_REGION" || name == "AWS_DEFAULT_REGION":
		return "is not carried over: the region is that of the capability, which the pods have as AWS_REGION"
	case slices.Contains(credentials, name):
		return "is not carried over: the pods have the credentials of the role of the capability"
	case strings.HasPrefix(name, "AWS_ENDPOINT_URL"):
		return "is not carried over: the pods call AWS and no emulator"
	case name == "AWS_ROLE_ARN" || name == "AWS_WEB_IDENTITY_TOKEN_FILE" || strings.HasPrefix(name, "NEXUS_"):
		return "is not carried over: the operator and EKS set variables of this name"
	case len(name) > 253 || !variablePattern.MatchString(name):
		return "is not carried over: a pod cannot have a variable of this name"
	default:
		return ""
	}
}

// RegionOf returns the region that a variable of an application names; empty where it is no region.
func RegionOf(name, value string) string {
	if (name == "AWS_REGION" || name == "AWS_DEFAULT_REGION") && CheckRegion(value) == nil {
		return value
	}
	return ""
}

// AddSource has a component read all keys of a Secret or ConfigMap.
func (a *App) AddSource(c *Component, at string, source nexusv1.EnvFromSource) {
	if len(c.Spec.EnvFrom) >= maxSources {
		a.Notef(c.Name, at, "is not carried over: a component has at most %d sources of variables", maxSources)
		return
	}
	c.Spec.EnvFrom = append(c.Spec.EnvFrom, source)
}

// AddEnvFile has a component read a Secret with the variables of an env file. The file is not read: it may have secrets.
func (a *App) AddEnvFile(c *Component, at, path string, optional bool) {
	name := a.envFileSecret(path)
	ref := &nexusv1.EnvSourceReference{Name: name}
	if optional {
		ref.Optional = new(true)
	}
	before := len(c.Spec.EnvFrom)
	a.AddSource(c, at, nexusv1.EnvFromSource{SecretRef: ref})
	if len(c.Spec.EnvFrom) > before {
		a.need("Secret", name).File = path
		a.Notef(c.Name, at, "%s is not read, because it may have secrets: the component has the variables of Secret %s, which you create from the file; "+
			"kubectl takes quotes in the file as part of the values", path, name)
	}
}

// envFileSecret names the Secret of an env file: one for each file.
func (a *App) envFileSecret(path string) string {
	for _, n := range a.Needs {
		if n.File == path {
			return n.Name
		}
	}
	base := Label(strings.TrimSuffix(strings.ReplaceAll(path, "/", "-"), ".env"), 40)
	if base == "" {
		base = "app"
	}
	name := base + "-env-file"
	for slices.ContainsFunc(a.Needs, func(n Need) bool { return n.Name == name }) {
		name += "-2"
	}
	return name
}
