// SPDX-License-Identifier: Apache-2.0

package compose

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/nexus-operator/nexus-operator/internal/appmodel"
)

// Options select the parts of a Compose file to read.
type Options struct {
	// Name of the file in notes and errors.
	Name string
	// Variables replace those that the texts of the file name.
	Variables map[string]string
	// Profiles select services; those without a profile are always selected.
	Profiles []string
	// Keep names services that become components although AWS has a service in their place.
	Keep []string
}

// reader reads one file.
type reader struct {
	options Options
	app     *appmodel.App
	// services are the selected ones, to know which names lead to a component.
	services []entry
	root     *yaml.Node
}

// Read returns the application of a Compose file.
func Read(text []byte, o Options) (*appmodel.App, error) {
	root, err := parse(&file{name: o.Name, variables: o.Variables}, text)
	if err != nil {
		return nil, err
	}
	all, err := root.entries()
	if err != nil {
		return nil, err
	}
	r := &reader{options: o, app: &appmodel.App{}, root: root.node}
	slices.SortStableFunc(all, func(a, b entry) int { return cmp.Compare(order(a.key), order(b.key)) })
	for _, e := range all {
		if err := r.topLevel(e); err != nil {
			return nil, err
		}
	}
	if len(r.services) == 0 {
		return nil, fmt.Errorf("%s: services: the file has no service that is selected", o.Name)
	}
	if err := r.unknownNames(); err != nil {
		return nil, err
	}
	if len(r.app.Components) == 0 {
		return nil, fmt.Errorf("%s: services: no service becomes a component: all of them have an image for which AWS has a service; name those to run with --keep", o.Name)
	}
	return r.app, nil
}

// order sorts the services before the other sections.
func order(key string) int {
	if key == "services" {
		return 0
	}
	return 1
}

// unknownNames requires that the names of Keep are services.
func (r *reader) unknownNames() error {
	for _, name := range r.options.Keep {
		if !slices.ContainsFunc(r.services, func(e entry) bool { return e.key == name }) {
			return fmt.Errorf("--keep: %s has no service %q", r.options.Name, name)
		}
	}
	return nil
}

// topLevel reads a key of the file itself.
func (r *reader) topLevel(e entry) error {
	switch {
	case e.key == "services":
		return r.readServices(e.value)
	case e.key == "name":
		name, err := e.text()
		r.app.Name = name
		return err
	case e.key == "version" || strings.HasPrefix(e.key, "x-") || e.isNull():
		return nil // the version has no meaning any more, and extensions are for other tools
	case e.key == "secrets":
		return r.readSecrets(e.value)
	case e.key == "include":
		return e.fault("is not read: `docker compose config` prints one file with everything that it includes; read that")
	case shared[e.key] != "":
		return r.noteEach(e.value, "is not carried over: "+shared[e.key])
	default:
		return e.fault("is no field of a Compose file")
	}
}

// shared gives, for each resource that services share, the reason that it is not carried over.
var shared = map[string]string{
	"volumes":  "pods of a capability keep no files; use a bucket of dataServices.s3, or a table of dataServices.dynamodb",
	"networks": "pods of one namespace reach each other; to limit that, use security.intents",
	"configs":  "put the file into the image, or its values into variables",
	"models":   "declare a model of Amazon Bedrock with --model",
}

// noteEach notes every entry of a mapping. Default networks and the like have no settings, and no note.
func (r *reader) noteEach(v value, text string) error {
	all, err := v.entries()
	for _, e := range all {
		if e.key != "default" || !e.isNull() {
			r.app.Notef("", e.at(), "%s", text)
		}
	}
	return err
}

// readSecrets declares the secrets of the file in AWS Secrets Manager, without their values.
func (r *reader) readSecrets(v value) error {
	all, err := v.entries()
	for _, e := range all {
		name := appmodel.Label(e.key, 40)
		if name == "" {
			return e.fault("a secret needs a name with a letter")
		}
		s, err := appmodel.ReadSecret(name)
		if err != nil {
			return e.fault("%v", err)
		}
		if !slices.ContainsFunc(r.app.Secrets, func(have appmodel.Secret) bool { return have.Name == s.Name }) {
			r.app.Secrets = append(r.app.Secrets, s)
		}
		r.app.Notef("", e.at(), "is declared in spec.secrets without its value, and is no file in the pods: read it from AWS Secrets Manager, and fill it in with nexusctl secrets set")
	}
	return err
}

// readServices reads the selected services: first their names, because they refer to each other.
func (r *reader) readServices(v value) error {
	err := v.each(func(e entry) error {
		selected, err := r.isSelected(e)
		if selected {
			r.services = append(r.services, e)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, e := range r.services {
		if err := r.readService(e); err != nil {
			return err
		}
	}
	return nil
}

// isSelected reports whether a service has no profile, or one that was asked for.
func (r *reader) isSelected(e entry) (bool, error) {
	if e.isNull() {
		return false, e.fault("the service has no fields: it needs image or build")
	}
	v, has, err := e.get("profiles")
	if err != nil || !has {
		return true, err
	}
	profiles, err := v.texts()
	if err != nil || len(profiles) == 0 {
		return true, err
	}
	wanted := func(p string) bool {
		return slices.Contains(r.options.Profiles, p) || slices.Contains(r.options.Profiles, "*")
	}
	if slices.ContainsFunc(profiles, wanted) {
		return true, nil
	}
	r.app.Notef("", v.at(), "service %s is not carried over: it has the profile %s; select it with --compose-profile", e.key,
		strings.Join(profiles, ", "))
	return false, nil
}

// readService reads one service into a component, or leaves it to a service of AWS.
func (r *reader) readService(e entry) error {
	if _, has, err := e.get("extends"); has || err != nil {
		return errors.Join(err, e.fault("extends is not read: `docker compose config` prints the file with everything that it extends; read that"))
	}
	image, builds, err := r.imageOf(e)
	if err != nil {
		return err
	}
	hosts, err := r.hostsOf(e)
	if err != nil {
		return err
	}
	if !builds && appmodel.IsStore(image) && !slices.Contains(r.options.Keep, e.key) {
		r.app.LeaveStore(e.at(), image, hosts...)
		return r.readEmulator(e, image)
	}
	r.app.Components = append(r.app.Components, appmodel.Component{Name: r.app.UniqueName(e.key), Source: e.at(), Hosts: hosts})
	made := draft{app: r.app, component: &r.app.Components[len(r.app.Components)-1]}
	s := &service{draft: made, entry: e, options: r.options, root: r.root}
	s.component.Spec.Image = image
	return s.read()
}

// imageOf returns the image of a service, and whether it is built.
func (r *reader) imageOf(e entry) (image string, builds bool, err error) {
	_, builds, err = e.get("build")
	if err != nil {
		return "", false, err
	}
	v, has, err := e.get("image")
	if err != nil || !has {
		if err == nil && !builds {
			err = e.fault("the service needs image or build")
		}
		return "", builds, err
	}
	t, err := v.interpolated()
	if err == nil && len(t.missing) > 0 && appmodel.CheckImage(t.value) != nil {
		err = v.fault("the image names %s, which has no value: set it in the file of --env-file", strings.Join(t.missing, ", "))
	}
	if err != nil {
		return "", builds, err
	}
	if err := appmodel.CheckImage(t.value); err != nil {
		return "", builds, v.fault("%v", err)
	}
	return t.value, builds, nil
}

// hostsOf returns the names that others use to reach a service.
func (r *reader) hostsOf(e entry) ([]string, error) {
	hosts := []string{e.key}
	for _, key := range []string{"container_name", "hostname"} {
		v, has, err := e.get(key)
		if err != nil {
			return nil, err
		}
		if !has {
			continue
		}
		t, err := v.text()
		if err != nil {
			return nil, err
		}
		hosts = append(hosts, t)
	}
	return hosts, nil
}

// readEmulator declares the services that an emulator of AWS is configured to run.
func (r *reader) readEmulator(e entry, image string) error {
	v, has, err := e.get("environment")
	if err != nil || !has || !strings.Contains(image, "localstack") {
		return err
	}
	list, err := variablesOf(v)
	for _, one := range list {
		if one.name == "SERVICES" {
			r.app.DeclareEmulated(one.text.value)
		}
	}
	return err
}
