// SPDX-License-Identifier: Apache-2.0

package compose

import (
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/appmodel"
)

// named is a variable of a service, before it is judged.
type named struct {
	at   value
	name string
	text interpolation
	// taken is true for a name without a value, which Compose reads from its own environment.
	taken bool
}

// variablesOf reads an environment as a mapping or as a list of NAME=VALUE.
func variablesOf(v value) ([]named, error) {
	var out []named
	if items, err := v.items(); err == nil {
		for _, item := range items {
			t, err := item.interpolated()
			if err != nil {
				return nil, err
			}
			name, text, found := strings.Cut(t.value, "=")
			t.value = text
			out = append(out, named{at: item, name: name, text: t, taken: !found})
		}
		return out, nil
	}
	all, err := v.entries()
	if err != nil {
		return nil, v.fault("must be a mapping of variables or a list of NAME=VALUE")
	}
	for _, e := range all {
		t, err := e.interpolated()
		if err != nil {
			return nil, e.fault("the value of a variable must be a text, a number or a boolean")
		}
		out = append(out, named{at: e.value, name: e.key, text: t, taken: e.isNull()})
	}
	return out, nil
}

func (s *service) environment(v value) error {
	list, err := variablesOf(v)
	for _, one := range list {
		s.addVariable(one)
	}
	return err
}

func (s *service) addVariable(one named) {
	if region := appmodel.RegionOf(one.name, one.text.value); region != "" && s.app.Region == "" {
		s.app.Region = region
	}
	if one.taken {
		if v, known := s.options.Variables[one.name]; known {
			one.text = interpolation{value: v, used: []string{one.name}}
		} else {
			one.text.missing = []string{one.name}
		}
	}
	secret := slices.ContainsFunc(slices.Concat(one.text.used, one.text.missing), func(name string) bool {
		return appmodel.IsSecret(name, s.options.Variables[name])
	})
	if !secret && len(one.text.missing) > 0 && !appmodel.IsSecret(one.name, one.text.value) {
		s.note(one.at, "%s is not carried over: %s has no value here; set it in the file of --env-file, or add the variable to the manifest",
			appmodel.Shown(one.name), strings.Join(one.text.missing, ", "))
		return
	}
	s.app.AddVariable(s.component, appmodel.Variable{At: one.at.at(), Name: one.name, Value: one.text.value, Secret: secret})
}

// envFile refers to Secrets with the variables of the files.
func (s *service) envFile(v value) error {
	items := []value{v}
	if !v.isScalar() {
		list, err := v.items()
		if err != nil {
			return v.fault("must be the path of a file or a list of paths")
		}
		items = list
	}
	for _, item := range items {
		path, optional := item, false
		if !item.isScalar() {
			p, has, err := item.get("path")
			if err != nil || !has {
				return item.fault("an env file needs path")
			}
			path = p
			if required, has, err := item.get("required"); has && err == nil {
				needed, err := required.flag()
				if err != nil {
					return err
				}
				optional = !needed
			}
		}
		text, err := path.text()
		if err != nil {
			return err
		}
		s.app.AddEnvFile(s.component, path.at(), text, optional)
	}
	return nil
}
