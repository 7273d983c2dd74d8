// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// script runs a script of the project with nexusctl on the PATH.
func (x *tool) script(name string, args ...string) answer {
	x.Helper()
	return x.scriptIn("", nil, name, args...)
}

// scriptIn runs a script in a folder; "" is that of the tests.
func (x *tool) scriptIn(dir string, env []string, name string, args ...string) answer {
	x.Helper()
	path, err := filepath.Abs("../../scripts/" + name)
	if err != nil {
		x.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	cmd.Dir = dir
	cmd.Env = append([]string{"PATH=" + filepath.Dir(x.binary()) + ":" + os.Getenv("PATH"), "HOME=" + x.TempDir(), "KUBECONFIG=/nonexistent"},
		env...)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		x.Fatal(err)
	}
	return answer{out: out.String(), err: errs.String(), code: cmd.ProcessState.ExitCode()}
}

func TestScripts_RunNexusctlWithTheirArguments(t *testing.T) {
	x := newTool(t)
	for name, usage := range map[string]string{
		"operator-nexus-dev.sh": "nexusctl [command]", "build-and-push.sh": "nexusctl build operator [flags]",
		"build-and-deploy.sh":   "nexusctl e2e [-f FILE] [flags]",
		"deploy-app-changes.sh": "nexusctl rollout [NAMESPACE/NAME | ncap/NAME] [flags]", "e2e-deploy.sh": "nexusctl e2e [-f FILE] [flags]",
	} {
		x.wants(x.script(name, "--help"), 0, usage)
	}
	x.wants(x.script("build-and-push.sh", "--layout", filepath.Join(t.TempDir(), "image"), "--dry-run"), 0, "would be written to")
	x.wants(x.script("build-and-deploy.sh", "--dry-run"), 4, "[1/7] Cleanup: skipped", "[3/7] Build apps: skipped",
		"[4/7] Deploy operator: nexusctl deploy", "[5/7] Apply capability: skipped")
	x.wants(x.script("e2e-deploy.sh", "-f", "../../examples/test-capability.yaml", "--skip-app-build", "--dry-run"), 4,
		"[1/7] Cleanup: nexusctl delete --full", "[3/7] Build apps: skipped (--skip-app-build)", "[7/7] Verify: nexusctl verify-capability")
	x.wants(x.script("build-and-deploy.sh", "--dry-run", "--to-step", "9"), 2, "is no number from 1 to 7")
	x.wants(x.script("operator-nexus-dev.sh", "status"), 4)
	x.wants(x.script("deploy-app-changes.sh", "ncap/x", "--build", "Data_Base"), 2, "frontend and backend")
}

// The pipeline finds its manifest where no flag names it, and says which it is.
func TestScripts_FindTheManifestOfThePipeline(t *testing.T) {
	extent.Full(t)
	x := newTool(t)
	manifest, err := os.ReadFile("../../examples/test-capability.yaml")
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "elsewhere.yaml")
	const unreachable = 4 // the scripts run without a cluster
	for _, f := range []struct {
		name  string
		files []string
		env   string
		code  int
		wants string
	}{
		{"capability.yaml", []string{"capability.yaml", "other.yaml"}, "", unreachable, "Manifest: capability.yaml."},
		{"the environment", []string{"capability.yaml"}, other, unreachable, "Manifest: " + other + "."},
		{"the only one", []string{"x.yaml"}, "", unreachable, "Manifest: x.yaml."},
		{"several", []string{"a.yaml", "b.yml"}, "", 2, "a.yaml, b.yml declare capabilities"},
		{"none", nil, "", 2, "no manifest of a capability is here"},
	} {
		t.Run(f.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, path := range append(f.files, other) {
				if !filepath.IsAbs(path) {
					path = filepath.Join(dir, path)
				}
				if err := os.WriteFile(path, manifest, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(filepath.Join(dir, "settings.yaml"), []byte("kind: Settings\nabout: NexusAICapability\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, flags := range [][]string{{}, {"--skip-clean"}, {"--skip-app-build"}, {"--skip-clean", "--skip-app-build"}} {
				a := x.scriptIn(dir, []string{"NEXUS_CAPABILITY=" + f.env}, "e2e-deploy.sh", append(flags, "--dry-run")...)
				x.wants(a, f.code, f.wants)
				if f.code == unreachable {
					x.wants(a, unreachable, "[7/7] Verify: nexusctl verify-capability", "[3/7] Build apps: skipped (")
				}
			}
		})
	}
	dir := t.TempDir()
	for _, folder := range []string{"nexus-backend", "nexus-ui"} {
		if err := os.Mkdir(filepath.Join(dir, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	x.wants(x.scriptIn(dir, []string{"NEXUS_CAPABILITY=" + other}, "e2e-deploy.sh", "--dry-run"), unreachable,
		"Source of an application: nexus-backend.", "Source of an application: nexus-ui.", "[3/7] Build apps: nexusctl build app")
}
