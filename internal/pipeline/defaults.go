// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/exit"
)

// The defaults of e2e for flags that are not set.
const (
	// envManifest names the manifest of the capability, and envBackend and envFrontend the folders that its images are built from.
	envManifest = "NEXUS_CAPABILITY"
	envBackend  = "NEXUS_BACKEND_SOURCE"
	envFrontend = "NEXUS_FRONTEND_SOURCE"

	defaultManifest = "capability.yaml"
	defaultBackend  = "nexus-backend"
	defaultFrontend = "nexus-ui"
)

// complete chooses the manifest and the sources that no flag names, and says which.
func (f *Options) complete(s *console.Console) error {
	if len(f.Files.Filenames) == 0 && f.needsManifest() {
		name, err := findManifest(s.Getenv)
		if err != nil {
			return err
		}
		s.Say("Manifest: %s.", name)
		f.Files.Filenames = []string{name}
	}
	if f.Backend == "" && f.Frontend == "" && f.runs(stepApps) {
		f.Backend = cmp.Or(s.Getenv(envBackend), existingFolder(defaultBackend))
		f.Frontend = cmp.Or(s.Getenv(envFrontend), existingFolder(defaultFrontend))
		for _, source := range []string{f.Backend, f.Frontend} {
			if source != "" {
				s.Say("Source of an application: %s.", source)
			}
		}
	}
	f.completed = true
	return nil
}

func existingFolder(name string) string {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return name
	}
	return ""
}

// findManifest returns the manifest that the environment names, capability.yaml of the current folder, or the only file of the folder that
// declares a capability.
func findManifest(getenv func(string) string) (string, error) {
	if name := getenv(envManifest); name != "" {
		return name, nil
	}
	if _, err := os.Stat(defaultManifest); err == nil {
		return defaultManifest, nil
	}
	found, err := manifestsOfCapabilities(".")
	switch {
	case err != nil:
		return "", exit.Usage("reading the current folder for a manifest: %w", err)
	case len(found) == 1:
		return found[0], nil
	case len(found) == 0:
		return "", exit.Usage("no manifest of a capability is here: name it with -f FILE or %s, or call it %s", envManifest, defaultManifest)
	default:
		return "", exit.Usage("%s declare capabilities: name one with -f FILE or %s", strings.Join(found, ", "), envManifest)
	}
}

// declaresCapability matches a manifest, in YAML or JSON.
var declaresCapability = regexp.MustCompile(`(?m)^[\s{"-]*kind"?\s*:\s*["']?NexusAICapability\b|"kind"\s*:\s*"NexusAICapability"`)

func manifestsOfCapabilities(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if !e.Type().IsRegular() || !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(e.Name())) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return nil, err
		}
		if declaresCapability.Match(text) {
			out = append(out, e.Name())
		}
	}
	return out, nil
}
