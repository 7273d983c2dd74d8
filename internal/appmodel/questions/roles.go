// SPDX-License-Identifier: Apache-2.0

package questions

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/appmodel"
)

// roles decides which components are in the fields frontend and backend, and asks for the components behind the paths / and /api.
func (i *Interview) roles(app *appmodel.App) (appmodel.Roles, error) {
	if err := i.routes(app); err != nil {
		return appmodel.Roles{}, err
	}
	out, err := i.fields(app)
	if err != nil {
		return out, err
	}
	for _, name := range []string{out.Frontend, out.Backend} {
		if c := app.Component(name); c != nil && !answers(c) {
			return out, fmt.Errorf("%s is a %s, and frontend and backend answer requests: name its port with --port %s=PORT", name, c.Type, name)
		}
	}
	return out, i.openPaths(app, out)
}

// answers reports whether a component answers requests.
func answers(c *appmodel.Component) bool { return c.Type == appmodel.TypeService || c.Type == "" }

// fields decides which components are in the fields frontend and backend: those of the flags, or those of these names.
func (i *Interview) fields(app *appmodel.App) (out appmodel.Roles, err error) {
	if out.Frontend, err = i.named(app, "frontend"); err != nil {
		return out, err
	}
	if out.Backend, err = i.named(app, "backend"); err != nil {
		return out, err
	}
	if out.Frontend != "" && out.Frontend == out.Backend {
		return out, fmt.Errorf("--backend: %q is the frontend already", out.Backend)
	}
	out.Frontend = fieldOf(app, out.Frontend, "frontend", out.Backend)
	out.Backend = fieldOf(app, out.Backend, "backend", out.Frontend)
	for _, name := range []string{"frontend", "backend"} {
		if app.Component(name) != nil && name != out.Frontend && name != out.Backend {
			return out, fmt.Errorf("--%s: the component %s has the name of this field of the capability: leave the flag out", name, name)
		}
	}
	return out, nil
}

// named returns the component that a flag names; empty where it names none.
func (i *Interview) named(app *appmodel.App, flag string) (string, error) {
	values, set := i.Flag(flag)
	name := strings.Join(values, "")
	if set && app.Component(name) == nil {
		return "", fmt.Errorf("--%s: there is no component %q; there are %s", flag, name, namesOf(app))
	}
	return name, nil
}

// fieldOf returns the component of a field: the one that a flag names, or the one that has the name of the field, unless the other field
// has it.
func fieldOf(app *appmodel.App, chosen, field, other string) string {
	if chosen == "" && other != field && app.Component(field) != nil {
		return field
	}
	return chosen
}

// routes reads the paths that flags lead to components. They replace those that were read.
func (i *Interview) routes(app *appmodel.App) error {
	pairs, err := i.pairs("route")
	if err != nil {
		return err
	}
	if len(pairs) > 0 {
		for k := range app.Components {
			app.Components[k].Routes = nil
		}
	}
	for _, p := range pairs {
		c := app.Component(p[0])
		switch {
		case c == nil:
			return fmt.Errorf("--route: there is no component %q; there are %s", p[0], namesOf(app))
		case !answers(c):
			return fmt.Errorf("--route: %s is a %s, and answers no requests: name its port with --port %s=PORT", p[0], c.Type, p[0])
		}
		if err := app.AddRoute(c, p[1]); err != nil {
			return fmt.Errorf("--route: %w", err)
		}
	}
	return nil
}

// openPaths asks which components users reach, unless the source or a flag says it. The frontend has / and the backend /api.
func (i *Interview) openPaths(app *appmodel.App, roles appmodel.Roles) error {
	if slices.ContainsFunc(app.Components, func(c appmodel.Component) bool { return len(c.Routes) > 0 }) {
		return nil
	}
	front, back := guessRoles(app)
	if front == roles.Backend {
		front = ""
	}
	if back == roles.Frontend {
		back = ""
	}
	if roles.Frontend == "" {
		if err := i.openPath(app, "/", question{text: "Component that users open at / (- for none)", fallback: front}); err != nil {
			return err
		}
	}
	if roles.Backend == "" {
		return i.openPath(app, "/api", question{text: "Component that answers below /api (- for none)", fallback: back})
	}
	return nil
}

// openPath asks for the component behind a path.
func (i *Interview) openPath(app *appmodel.App, path string, q question) error {
	if q.fallback == "" {
		return nil
	}
	q.flag = "route of " + path
	q.check = func(text string) error {
		if c := app.Component(text); c == nil || !answers(c) {
			return fmt.Errorf("%q answers no requests; name one of %s", text, namesOf(app))
		}
		return nil
	}
	name, err := i.ask(q)
	if c := app.Component(name); err == nil && c != nil {
		err = app.AddRoute(c, path)
	}
	return err
}

func namesOf(app *appmodel.App) string {
	var names []string
	for _, c := range app.Components {
		names = append(names, c.Name)
	}
	return strings.Join(names, ", ")
}

// The words in the names of components that users open, and of those that answer the others.
var (
	frontWords = []string{"frontend", "web", "ui", "client", "site", "www", "app", "dashboard", "nginx", "chat"}
	backWords  = []string{"backend", "api", "server", "service", "gateway", "core", "agent"}
)

// guessRoles finds the component that users open, by its name or its order, and the one that answers below /api, by its name.
func guessRoles(app *appmodel.App) (front, back string) {
	var services []string
	for _, c := range app.Components {
		if answers(&c) {
			services = append(services, c.Name)
		}
	}
	if front = firstWith(services, frontWords, ""); front == "" {
		likelyBack := firstWith(services, backWords, "")
		for _, name := range services {
			if front == "" && (name != likelyBack || len(services) == 1) {
				front = name
			}
		}
	}
	return front, firstWith(services, backWords, front)
}

// firstWith returns the first name, other than one, with one of some words in it.
func firstWith(names, words []string, not string) string {
	for _, w := range words {
		for _, name := range names {
			if name != not && slices.Contains(strings.Split(name, "-"), w) {
				return name
			}
		}
	}
	return ""
}
