// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/nexus-operator/nexus-operator/internal/appmodel"
	"github.com/nexus-operator/nexus-operator/internal/appmodel/compose"
	"github.com/nexus-operator/nexus-operator/internal/appmodel/workloads"
	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/helmrelease"
)

// readApplication reads the application where a flag says, and returns a text that names the source.
func (s *initVerb) readApplication(ctx context.Context, f *initFlags) (*appmodel.App, string, error) {
	switch {
	case f.compose != "":
		app, err := s.readCompose(ctx, f)
		return app, ", from " + filepath.Base(f.compose), err
	case f.chart != "":
		app, name, err := s.readChart(ctx, f)
		return app, ", from chart " + name, err
	case len(f.keep) > 0:
		return nil, "", exit.Usage("--keep names services of a Compose file or workloads of a chart")
	default:
		s.hintAtSource()
		return &appmodel.App{}, "", nil
	}
}

// hintAtSource names a Compose file or a chart in this folder, for people who do not know that it can be read.
func (s *initVerb) hintAtSource() {
	for _, source := range [][2]string{{"compose.yaml", "--from-compose compose.yaml"}, {"compose.yml", "--from-compose compose.yml"},
		{"docker-compose.yaml", "--from-compose docker-compose.yaml"},
		{"docker-compose.yml", "--from-compose docker-compose.yml"}, {"Chart.yaml", "--from-chart ."},
		{"chart/Chart.yaml", "--from-chart chart"}} {
		if _, err := os.Stat(source[0]); err == nil {
			s.Say("This folder has %s: nexusctl init %s reads it.", source[0], source[1])
			return
		}
	}
}

// readChart renders a chart and reads the objects that it would install.
func (s *initVerb) readChart(ctx context.Context, f *initFlags) (*appmodel.App, string, error) {
	c, err := helmrelease.Load(f.chart)
	if err != nil {
		return nil, "", exit.Usage("%s: %w; nothing was written", f.chart, err)
	}
	over, err := helmrelease.MergeValues(nil, f.values, f.single)
	if err != nil {
		return nil, "", exit.Usage("the values of the chart: %w", err)
	}
	text, err := c.Render(ctx, c.Name(), c.Name(), over)
	if err != nil {
		return nil, "", exit.Usage("%w; nothing was written", err)
	}
	app, err := workloads.Read(text, workloads.Options{Name: c.Name(), Keep: f.keep})
	if err != nil {
		return nil, "", exit.Usage("%w; nothing was written", err)
	}
	app.Name, app.Version = c.Name(), cmp.Or(c.AppVersion(), c.Version())
	return app, c.Name(), nil
}

// readCompose reads a Compose file, with the variables of an env file.
func (s *initVerb) readCompose(ctx context.Context, f *initFlags) (*appmodel.App, error) {
	text, err := console.WithContext(ctx, func() ([]byte, error) {
		if f.compose == connection.StandardInput {
			return io.ReadAll(s.In)
		}
		return os.ReadFile(f.compose)
	})
	if err != nil {
		return nil, exit.Usage("reading the Compose file: %w", err)
	}
	variables, err := f.composeVariables()
	if err != nil {
		return nil, err
	}
	name := filepath.Base(f.compose)
	if f.compose == connection.StandardInput {
		name = "standard input"
	}
	app, err := compose.Read(text, compose.Options{Name: name, Variables: variables, Profiles: f.profiles, Keep: f.keep})
	if err != nil {
		return nil, exit.Usage("%w; nothing was written", err)
	}
	return app, nil
}

// composeVariables reads the variables of --env-file, or of .env beside the Compose file where it exists.
func (f *initFlags) composeVariables() (map[string]string, error) {
	path := f.envFile
	if path == "" {
		path = filepath.Join(filepath.Dir(f.compose), ".env")
	}
	text, err := os.ReadFile(path)
	if f.envFile == "" && errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, exit.Usage("reading the variables of the Compose file: %w", err)
	}
	return compose.Variables(string(text)), nil
}
