// SPDX-License-Identifier: Apache-2.0

package questions

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/appmodel"
)

// Defaults are answers that come from where the command runs.
type Defaults struct {
	// Name of the application, such as that of the folder; Region of AWS.
	Name, Region string
}

// Fill completes an application. A nil error means that every answer is valid.
func (i *Interview) Fill(app *appmodel.App, d Defaults) (appmodel.Roles, error) {
	read := len(app.Components) > 0
	if err := i.identity(app, d); err != nil {
		return appmodel.Roles{}, err
	}
	if !read {
		if err := i.newComponents(app); err != nil {
			return appmodel.Roles{}, err
		}
	}
	if err := i.changeComponents(app); err != nil {
		return appmodel.Roles{}, err
	}
	roles, err := i.roles(app)
	if err != nil {
		return roles, err
	}
	if err := i.stores(app); err != nil {
		return roles, err
	}
	return roles, i.traffic(app)
}

// identity asks for the name, the environment and further data of the application as a whole.
func (i *Interview) identity(app *appmodel.App, d Defaults) (err error) {
	app.Environment, err = i.ask(question{flag: "environment", text: "Environment, such as dev or prod",
		fallback: cmp.Or(app.Environment, "dev"), required: true, check: appmodel.CheckEnvironment})
	if err != nil {
		return err
	}
	app.Name, err = i.ask(question{flag: "name", text: "Name of the application",
		fallback: appmodel.DefaultName(cmp.Or(app.Name, d.Name), app.Environment), required: true,
		check: func(text string) error { return appmodel.CheckName(text, app.Environment) }})
	if err != nil {
		return err
	}
	version := cmp.Or(app.Version, "1.0.0")
	if appmodel.CheckVersion(version) != nil {
		version = "1.0.0"
	}
	if app.Version, err = i.ask(question{flag: "app-version", text: "Version of the application", fallback: version, required: true,
		check: appmodel.CheckVersion}); err != nil {
		return err
	}
	app.Region, err = i.ask(question{flag: "region", text: "AWS region (- for that of the operator)", fallback: cmp.Or(app.Region, d.Region),
		check: appmodel.CheckRegion})
	if err != nil {
		return err
	}
	app.Provider, err = i.ask(question{flag: "provider", text: "AWSProvider that names the account (empty for the operator's own)",
		check: appmodel.CheckObjectName})
	if err != nil {
		return err
	}
	if values, set := i.Flag("namespace"); set {
		app.Namespace = strings.Join(values, "")
		if err := appmodel.CheckObjectName(app.Namespace); err != nil {
			return fmt.Errorf("--namespace: %w", err)
		}
	}
	return nil
}

// newComponents asks for the components of an application that was not read.
func (i *Interview) newComponents(app *appmodel.App) error {
	images, err := i.pairs("image")
	if err != nil {
		return err
	}
	var names []string
	for _, pair := range images {
		names = append(names, pair[0])
	}
	if _, set := i.Flag("image"); !set && i.ReadLine == nil {
		return errors.New("no component is known: name images with --image NAME=IMAGE, or read a Compose file (--from-compose) or a chart (--from-chart)")
	}
	if len(names) == 0 {
		if names, err = i.askList(question{flag: "image", text: "Components, separated by commas", fallback: "web", required: true},
			checkComponents); err != nil {
			return err
		}
	}
	if err := checkComponents(names); err != nil {
		return fmt.Errorf("--image: %w", err)
	}
	for _, name := range names {
		if err := i.newComponent(app, name, images); err != nil {
			return err
		}
	}
	return nil
}

// checkComponents checks the names of components.
func checkComponents(names []string) error {
	if len(names) > 16 {
		return errors.New("a capability has at most 16 components")
	}
	seen := map[string]bool{}
	for _, name := range names {
		if err := appmodel.CheckComponent(name); err != nil {
			return err
		}
		if seen[name] {
			return fmt.Errorf("%q is named twice", name)
		}
		seen[name] = true
	}
	return nil
}

func (i *Interview) newComponent(app *appmodel.App, name string, images [][2]string) error {
	c := appmodel.Component{Name: name, Hosts: []string{name}, Type: appmodel.TypeService}
	at := slices.IndexFunc(images, func(p [2]string) bool { return p[0] == name })
	var err error
	if at >= 0 {
		c.Spec.Image = images[at][1]
	} else if c.Spec.Image, err = i.ask(question{flag: "image of " + name, text: "Image of " + name, required: true,
		check: appmodel.CheckImage}); err != nil {
		return err
	}
	if err := i.askPort(&c); err != nil {
		return err
	}
	app.Components = append(app.Components, c)
	return nil
}

// askPort asks for the port of a component, unless a flag says it.
func (i *Interview) askPort(c *appmodel.Component) error {
	ports, err := i.pairs("port")
	if err != nil || slices.ContainsFunc(ports, func(p [2]string) bool { return p[0] == c.Name }) {
		return err
	}
	answer, err := i.ask(question{flag: "port of " + c.Name, text: "Port on which " + c.Name + " answers requests (- for none)",
		fallback: defaultPort(c.Name),
		check:    func(text string) error { _, err := appmodel.ReadPort(text); return err }})
	if err != nil {
		return err
	}
	if answer == "" {
		c.Type = appmodel.TypeWorker
		return nil
	}
	p, err := appmodel.ReadPort(answer)
	c.Spec.Port = &p
	return err
}

func defaultPort(name string) string {
	if name == "backend" {
		return "8000"
	}
	return "8080"
}

// change is a flag that changes one setting of a component.
type change struct {
	flag  string
	apply func(c *appmodel.Component, text string) error
}

// changes lists the flags that change components, also those that were read.
func changes() []change {
	return []change{
		{"image", func(c *appmodel.Component, text string) error {
			c.Spec.Image = text
			return appmodel.CheckImage(text)
		}},
		{"port", func(c *appmodel.Component, text string) error {
			p, err := appmodel.ReadPort(text)
			c.Spec.Port, c.Type = &p, appmodel.TypeService
			return err
		}},
		{"type", func(c *appmodel.Component, text string) error {
			if c.Type = appmodel.Type(text); c.Type == appmodel.TypeService || c.Type == appmodel.TypeWorker {
				return nil
			}
			return fmt.Errorf("%q is none of Service and Worker", text)
		}},
		{"replicas", func(c *appmodel.Component, text string) error {
			n, err := appmodel.ReadReplicas(text)
			c.Spec.Replicas = &n
			return err
		}},
	}
}

func (i *Interview) changeComponents(app *appmodel.App) error {
	for _, ch := range changes() {
		pairs, err := i.pairs(ch.flag)
		if err != nil {
			return err
		}
		for _, p := range pairs {
			c := app.Component(p[0])
			if c == nil {
				return fmt.Errorf("--%s: there is no component %q", ch.flag, p[0])
			}
			if err := ch.apply(c, p[1]); err != nil {
				return fmt.Errorf("--%s: %w", ch.flag, err)
			}
		}
	}
	return nil
}

// stores asks which stores and models the application uses.
func (i *Interview) stores(app *appmodel.App) error {
	for _, s := range []struct {
		flag, text string
		purpose    appmodel.Purpose
		names      *[]string
	}{
		{"table", "DynamoDB tables, separated by commas (- for none)", appmodel.PurposeTable, &app.Tables},
		{"bucket", "S3 buckets (- for none)", appmodel.PurposeBucket, &app.Buckets},
		{"queue", "SQS queues (- for none)", appmodel.PurposeQueue, &app.Queues},
		{"topic", "SNS topics (- for none)", appmodel.PurposeTopic, &app.Topics},
	} {
		names, err := i.askList(question{flag: s.flag, text: s.text, fallback: strings.Join(*s.names, ",")}, s.purpose.CheckNames)
		if err != nil {
			return err
		}
		*s.names = names
	}
	if err := i.models(app); err != nil {
		return err
	}
	return i.secrets(app)
}

func (i *Interview) models(app *appmodel.App) error {
	_, err := i.askList(question{flag: "model", text: "Models of Amazon Bedrock as NAME=MODEL, such as chat=amazon.nova-lite-v1:0"},
		func(list []string) error {
			var models []appmodel.Model
			for _, text := range list {
				m, err := appmodel.ReadModel(text)
				if err != nil {
					return err
				}
				if slices.ContainsFunc(models, func(have appmodel.Model) bool { return have.Name == m.Name }) {
					return fmt.Errorf("two models have the name %q", m.Name)
				}
				models = append(models, m)
			}
			if len(models) > 8 {
				return fmt.Errorf("%d models: write at most 8, and add others to the manifest", len(models))
			}
			app.Models = models
			return nil
		})
	return err
}

// secrets adds the secrets of the flag to those that were read. No question asks for them: their values are needed later.
func (i *Interview) secrets(app *appmodel.App) error {
	values, _ := i.Flag("secret")
	for _, text := range values {
		s, err := appmodel.ReadSecret(text)
		if err != nil {
			return fmt.Errorf("--secret: %w", err)
		}
		if slices.ContainsFunc(app.Secrets, func(have appmodel.Secret) bool { return have.Name == s.Name }) {
			return fmt.Errorf("--secret: %q is declared twice", s.Name)
		}
		app.Secrets = append(app.Secrets, s)
	}
	if len(app.Secrets) > 8 {
		return fmt.Errorf("--secret: %d secrets: declare at most 8, and add others to the manifest", len(app.Secrets))
	}
	return nil
}

// traffic asks how users reach the application, and for the deletion policy.
func (i *Interview) traffic(app *appmodel.App) (err error) {
	off, err := i.askYes(question{flag: "no-ingress", fallback: yesOrNo(app.Ingress.Disabled),
		text: "Only for callers inside the cluster (yes or no)"})
	if err != nil {
		return err
	}
	if app.Ingress.Disabled = off; !off {
		if err := i.ingress(app); err != nil {
			return err
		}
	}
	fallback := "Delete"
	if app.Environment == "prod" || app.Environment == "production" {
		fallback = "Retain"
	}
	answer, err := i.ask(question{flag: "deletion-policy", text: "AWS resources at the deletion of the capability (Delete, Retain or Orphan)",
		fallback: fallback, required: true,
		check: func(text string) error { _, err := appmodel.ReadDeletionPolicy(text); return err }})
	if err != nil {
		return err
	}
	app.DeletionPolicy, err = appmodel.ReadDeletionPolicy(answer)
	return err
}

func (i *Interview) ingress(app *appmodel.App) (err error) {
	if app.Ingress.Public, err = i.askYes(question{flag: "public", fallback: "no",
		text: "Reachable from the internet (yes or no)"}); err != nil {
		return err
	}
	if app.Ingress.Host, err = i.ask(question{flag: "host", text: "Host name (- for that of the load balancer)", fallback: app.Ingress.Host,
		check: appmodel.CheckHost}); err != nil {
		return err
	}
	app.Ingress.HealthPath, err = i.ask(question{flag: "health-path", text: "Path that answers 2xx when a component can serve",
		fallback: cmp.Or(app.Ingress.HealthPath, healthPath(app), "/health"), required: true,
		check: appmodel.CheckPath})
	return err
}

func yesOrNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}

// healthPath returns the path that the readiness probe of a component asks, in the order of the components.
func healthPath(app *appmodel.App) string {
	for _, c := range app.Components {
		if p := c.Spec.Probes; p != nil && p.Readiness != nil && p.Readiness.HTTPGet != nil && p.Readiness.HTTPGet.Path != "" {
			return p.Readiness.HTTPGet.Path
		}
	}
	return ""
}
