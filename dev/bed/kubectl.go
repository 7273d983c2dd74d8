// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// linkKubectl links an installed kubectl whose minor version is at most one away from that of the API server, which is the
// skew that Kubernetes supports (https://kubernetes.io/releases/version-skew-policy/#kubectl). Without one it does nothing.
func linkKubectl(version, out string) error {
	path, err := exec.LookPath(kubectl)
	if err != nil {
		return nil
	}
	// A program that starts another one by the name under which it was called would not work as a link.
	if path, err = filepath.Abs(path); err != nil {
		return err
	}
	found := kubectlVersion(path)
	if !withinSkew(found, version) {
		return nil
	}
	say("%-24s %-9s %s", kubectl, found, path)
	script := fmt.Sprintf("#!/bin/sh\nexec '%s' \"$@\"\n", path)
	return os.WriteFile(filepath.Join(out, kubectl), []byte(script), 0o755)
}

// kubectlScript compiles kubectl when it is called first: the demo and most tests need none, and it is a twentieth of all that
// is compiled. It needs nothing but the two files of the module beside it, so that the source tree may be gone by then.
const kubectlScript = `#!/bin/sh
set -e
here=$(cd "$(dirname "$0")" && pwd)
if [ ! -x "$here/module/kubectl" ]; then
	echo 'compiling kubectl, which takes about a minute once' >&2
	CGO_ENABLED=0 GOWORK=off GOFLAGS= GOGC=off GOMEMLIMIT=2GiB GOMAXPROCS=1 go build -C "$here/module" %s -ldflags "%s" -o "$here/module/kubectl.$$" k8s.io/kubernetes/cmd/kubectl
	mv "$here/module/kubectl.$$" "$here/module/kubectl"
fi
exec "$here/module/kubectl" "$@"
`

// writeKubectl writes a kubectl that compiles itself when it is called first.
func writeKubectl(dev, out, flags string) error {
	module := filepath.Join(out, "module")
	if err := os.Mkdir(module, 0o755); err != nil {
		return err
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(dev, name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(module, name), text, 0o644); err != nil {
			return err
		}
	}
	script := fmt.Sprintf(kubectlScript, "'"+strings.Join(buildFlags(), "' '")+"'", flags)
	return os.WriteFile(filepath.Join(out, kubectl), []byte(script), 0o755)
}

// kubectlVersion returns what a kubectl says of itself, such as v1.37.2; empty when it does not answer.
func kubectlVersion(path string) string {
	out, err := exec.Command(path, "version", "--client", "--output=json").Output()
	if err != nil {
		return ""
	}
	var answer struct {
		ClientVersion struct {
			GitVersion string `json:"gitVersion"`
		} `json:"clientVersion"`
	}
	if json.Unmarshal(out, &answer) != nil {
		return ""
	}
	return answer.ClientVersion.GitVersion
}

func withinSkew(client, server string) bool {
	c, err := minor(client)
	s, err2 := minor(server)
	return err == nil && err2 == nil && c-s <= 1 && s-c <= 1
}

// minor returns the second number of a version whose first is 1.
func minor(version string) (int, error) {
	parts := strings.SplitN(version, ".", 3)
	if len(parts) < 3 || parts[0] != "v1" {
		return 0, fmt.Errorf("%q is not a version of Kubernetes", version)
	}
	return strconv.Atoi(parts[1])
}
