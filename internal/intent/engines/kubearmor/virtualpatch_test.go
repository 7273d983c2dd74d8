// SPDX-License-Identifier: Apache-2.0

package kubearmor

import (
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/intent"
)

func TestVirtualPatchesComeFromTheCatalog(t *testing.T) {
	known := intent.Patches{Known: map[string]intent.Patch{
		"CVE-2021-4034": {Processes: []intent.PatchPath{{Path: "/usr/bin/pkexec", From: []string{"/bin/sh"}}},
			Files: []intent.PatchPath{{Path: "/etc/polkit/", ReadOnly: true}}},
	}}
	for name, c := range map[string]struct {
		cves    []string
		patches intent.Patches
		level   v1alpha1.Level
		reason  string
		objects int
	}{
		"known":           {[]string{"CVE-2021-4034", "CVE-2021-4034"}, known, v1alpha1.LevelEnforced, "", 2},
		"one is unknown":  {[]string{"CVE-2021-4034", "CVE-2020-0001"}, known, v1alpha1.LevelPartial, "UnknownCVE", 2},
		"all are unknown": {[]string{"CVE-2020-0001"}, known, v1alpha1.LevelNone, "UnknownCVE", 0},
		"no catalog": {[]string{"CVE-2021-4034"}, intent.Patches{Reason: "CatalogMissing", Problem: "none"}, v1alpha1.LevelNone,
			"CatalogMissing", 0},
		"nothing is named": {nil, known, v1alpha1.LevelNone, "InvalidParams", 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := intent.Rule{ID: "virtualPatch", Canonical: "virtualPatch", Action: v1alpha1.Block, Params: map[string][]string{"cveList": c.cves}}
			tr := New().Translate(intent.Policy{Name: "web", Namespace: "shop", Rules: []intent.Rule{r}},
				intent.Facts{Patches: c.patches, AppArmor: true})
			if got := tr.Claims[0]; got.Level != c.level || got.Reason != c.reason || len(tr.Objects) != c.objects {
				t.Fatalf("%+v, %d objects", got, len(tr.Objects))
			}
			if c.objects == 0 {
				return
			}
			golden := `{"matchPaths":[{"fromSource":[{"path":"/bin/sh"},{"path":"/usr/bin/sh"}],"path":"/usr/bin/pkexec"},{"fromSource":[{"path":"/bin/sh"},{"path":"/usr/bin/sh"}],"path":"/bin/pkexec"}]}`
			text, err := tr.Objects[1].MarshalJSON()
			if err != nil || !strings.Contains(string(text), golden) || tr.Objects[1].GetName() != "web-virtualpatch-cve-2021-4034-process" {
				t.Errorf("%s: %s", tr.Objects[1].GetName(), text)
			}
		})
	}
}

// KubeArmor sees the file behind a link, such as /run/docker.sock for /var/run/docker.sock.
func TestVirtualPatches_HoldAFileAtAllOfItsPaths(t *testing.T) {
	for path, want := range map[string]string{
		"/var/run/docker.sock":     "/var/run/docker.sock /run/docker.sock",
		"/run/containerd/":         "/run/containerd/ /var/run/containerd/",
		"/var/lock/x":              "/var/lock/x /run/lock/x",
		"/run/lock/x":              "/run/lock/x /var/run/lock/x /var/lock/x",
		"/bin/sh":                  "/bin/sh /usr/bin/sh",
		"/usr/sbin/":               "/usr/sbin/ /sbin/",
		"/usr/lib64/libcrypto.so":  "/usr/lib64/libcrypto.so /lib64/libcrypto.so",
		"/usr/local/bin/tool":      "/usr/local/bin/tool",
		"/opt/run/x":               "/opt/run/x",
		"/usr/share/binaries/tool": "/usr/share/binaries/tool",
	} {
		var got []string
		for _, p := range atAllPaths([]intent.PatchPath{{Path: path}}) {
			got = append(got, p.Path)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %s", path, got, want)
		}
	}
	both := []intent.PatchPath{{Path: "/usr/bin/pkexec"}, {Path: "/bin/pkexec", From: []string{"/opt/app"}}}
	if got := atAllPaths(both); len(got) != 2 || len(got[0].From) != 0 || len(got[1].From) != 1 {
		t.Errorf("what the catalog says of both paths is not kept: %+v", got)
	}
}
