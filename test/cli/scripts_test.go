// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// script runs a script of the project with nexusctl on the PATH.
func (x *tool) script(name string, args ...string) answer {
	x.Helper()
	cmd := exec.Command("../../scripts/"+name, args...)
	cmd.Env = []string{"PATH=" + filepath.Dir(x.binary()) + ":" + os.Getenv("PATH"), "HOME=" + x.TempDir(), "KUBECONFIG=/nonexistent"}
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
		"operator-nexus-dev.sh": "nexusctl [command]", "build-and-push.sh": "nexusctl build operator [flags]", "build-and-deploy.sh": "nexusctl e2e -f FILE [flags]",
		"deploy-app-changes.sh": "nexusctl rollout [NAMESPACE/NAME | ncap/NAME] [flags]", "e2e-deploy.sh": "nexusctl e2e -f FILE [flags]",
	} {
		x.wants(x.script(name, "--help"), 0, usage)
	}
	x.wants(x.script("build-and-push.sh", "--layout", filepath.Join(t.TempDir(), "image"), "--dry-run"), 0, "would be written to")
	x.wants(x.script("build-and-deploy.sh", "--dry-run"), 0, "[1/7] Cleanup: skipped", "[3/7] Build apps: skipped", "[4/7] Deploy operator: nexusctl deploy", "[5/7] Apply capability: skipped")
	x.wants(x.script("e2e-deploy.sh", "-f", "../../examples/test-capability.yaml", "--skip-app-build", "--dry-run"), 0, "[1/7] Cleanup: nexusctl delete --full", "[3/7] Build apps: skipped (--skip-app-build)", "[7/7] Verify: nexusctl verify-capability")
	x.wants(x.script("e2e-deploy.sh", "-f", "../../examples/test-capability.yaml", "--skip-app-build"), 2, "add --yes")
	x.wants(x.script("operator-nexus-dev.sh", "status"), 4)
	x.wants(x.script("deploy-app-changes.sh", "ncap/x", "--build", "database"), 2, "frontend and backend")
}
