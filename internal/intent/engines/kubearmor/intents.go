// SPDX-License-Identifier: Apache-2.0

package kubearmor

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/intent"
)

// part holds the rules of one KubeArmorPolicy.
type part struct {
	// suffix of the name, where an intent has several.
	suffix string
	// section of the spec that rules are in.
	section string
	rules   map[string]any
	// shallow says that the kubelet alone fills the directories, with few levels.
	shallow bool
	// adorn adds fields that only this intent's objects have.
	adorn func(*unstructured.Unstructured, intent.Policy, intent.Rule)
}

// partsOf returns the parts of KubeArmor policies for an intent, one for each object; none when KubeArmor has no means.
func partsOf(r intent.Rule) []part {
	switch r.Canonical {
	case "dnsManipulation":
		// With readOnly, Block stops writing and lets everybody read.
		return []part{{section: "file", rules: paths([]string{"/etc/resolv.conf"}, map[string]any{"readOnly": true})}}
	case "swDeploymentTools":
		return []part{deploymentTools("")}
	case "pkgMgrs":
		return []part{{section: "process", rules: paths(places(packageManagers()), nil), adorn: inSecondDialect}}
	case "unAuthorizedSaTokenAccess":
		// The kubelet mounts the token below /var/run, which is a link to /run in most images and a directory in others.
		return []part{{section: "file", shallow: true,
			rules: directories("/run/secrets/kubernetes.io/serviceaccount/", "/var/run/secrets/kubernetes.io/serviceaccount/")}}
	case "preventExecutionFromTempOrLogsFolders":
		return []part{{section: "process", rules: directories("/var/tmp/", "/tmp/", "/var/log/", "/app/logs/", "/logs/", "/etc/")}}
	case "escapeToHost":
		return []part{
			{suffix: "disallowchroot", section: "process", rules: paths([]string{"/usr/sbin/chroot", "/sbin/chroot"}, nil)},
			{suffix: "disallowcapabilities", section: "capabilities",
				rules: capabilities("sys_admin", "sys_ptrace", "sys_module", "dac_read_search", "dac_override")},
			deploymentTools("swdeploymenttools"),
		}
	}
	return nil
}

// maxDir limits how long a directory of a rule may be: KubeArmor's program looks for directories in the first 64 characters of a path.
const maxDir = 64

// maxLevels limits how deep the file of a rule may be: see limitOf.
const maxLevels = 20

// limitOf names the limits of KubeArmor for rules on nodes where it enforces by BPF-LSM; empty for none. Its program goes up 20 steps from
// a file, mount points among them, and takes the result for the path. It checks reads when a file is opened and writes at each write call.
// A memory mapping makes no such call.
// https://github.com/kubearmor/KubeArmor/blob/00a3b649f6f8643d39f3486cf04c3dd4c3d7e11e/KubeArmor/BPF/shared.h (prepend_path,
// match_and_enforce_path_hooks), https://github.com/kubearmor/KubeArmor/issues/2609
func limitOf(parts []part) string {
	var limits []string
	for _, p := range parts {
		if path := readOnlyPath(p.rules); path != "" {
			limits = append(limits, "does not keep processes from writing "+path+", which is readOnly, by a memory mapping")
		}
		if _, found := p.rules["matchDirectories"]; found && !p.shallow {
			limits = append(limits, "does not see files that are more than 20 directories deep in the folders")
		}
		if path := deepPath(p.rules); path != "" {
			limits = append(limits, fmt.Sprintf("does not see %s, which is %d or more directories deep", path, maxLevels))
		}
		if dir := longDirectory(p.rules); dir != "" {
			limits = append(limits, fmt.Sprintf("does not see folder %s, which has more than %d characters", dir, maxDir))
		}
	}
	if len(limits) == 0 {
		return ""
	}
	return "where KubeArmor enforces by BPF-LSM, it " + strings.Join(slices.Compact(limits), ", and ")
}

// readOnlyPath is the first path that rules leave readable, or nothing.
func readOnlyPath(rules map[string]any) string {
	for _, list := range []string{"matchPaths", "matchDirectories"} {
		items, _ := rules[list].([]any)
		for _, item := range items {
			entry, _ := item.(map[string]any)
			if entry["readOnly"] == true {
				return fmt.Sprint(cmp.Or(entry["path"], entry["dir"]))
			}
		}
	}
	return ""
}

// deepPath is the first path of rules that is too deep for BPF-LSM, or nothing.
func deepPath(rules map[string]any) string {
	for _, list := range []string{"matchPaths", "matchDirectories"} {
		items, _ := rules[list].([]any)
		for _, item := range items {
			entry, _ := item.(map[string]any)
			for _, at := range []any{entry["path"], entry["dir"]} {
				if path, _ := at.(string); strings.Count(path, "/") >= maxLevels {
					return path
				}
			}
		}
	}
	return ""
}

// longDirectory is the first directory of rules that is too long for BPF-LSM, or nothing.
func longDirectory(rules map[string]any) string {
	items, _ := rules["matchDirectories"].([]any)
	for _, item := range items {
		entry, _ := item.(map[string]any)
		if dir, _ := entry["dir"].(string); len(dir) > maxDir {
			return dir
		}
	}
	return ""
}

func deploymentTools(suffix string) part {
	tools := append(packageManagers(), downloaders()...)
	return part{suffix: suffix, section: "process", rules: paths(places(tools), nil)}
}

// tool is a command and its directories in images.
type tool struct {
	command string
	in      []string
}

// packageManagers returns the names that people type and the names of the files that these link to: KubeArmor sees the file that is
// executed, and sbin dnf and yum are links to dnf-3 or dnf5 in images of Fedora and Red Hat.
func packageManagers() []tool {
	bin, local := []string{"/usr/bin", "/bin"}, []string{"/usr/bin", "/bin", "/usr/local/bin"}
	sbin := []string{"/usr/bin", "/usr/sbin", "/bin", "/sbin"} // some distributions have these as one, others not
	return []tool{
		{"apt", bin}, {"apt-get", bin}, {"apk", sbin}, {"dpkg", bin}, {"gdebi", bin}, {"make", local},
		{"yum", bin}, {"rpm", bin}, {"dnf", bin}, {"dnf-3", bin}, {"dnf5", bin},
		{"pacman", sbin}, {"makepkg", sbin}, {"yaourt", sbin}, {"zypper", bin},
	}
}

// downloaders holds wget2, which wget is a link to in images of Fedora.
func downloaders() []tool {
	local := []string{"/usr/bin", "/bin", "/usr/local/bin"}
	return []tool{{"curl", local}, {"wget", local}, {"wget2", local}}
}

// places are the tools' paths, tool by tool.
func places(tools []tool) []string {
	var out []string
	for _, t := range tools {
		for _, dir := range t.in {
			out = append(out, dir+"/"+t.command)
		}
	}
	return out
}

// paths matches each of the files, with the options given.
func paths(files []string, options map[string]any) map[string]any {
	return matching("matchPaths", "path", files, options)
}

// directories matches whatever is below them; KubeArmor wants the / at the end.
func directories(names ...string) map[string]any {
	return matching("matchDirectories", "dir", names, map[string]any{"recursive": true})
}

// capabilities are named without CAP_.
func capabilities(names ...string) map[string]any {
	return matching("matchCapabilities", "capability", names, nil)
}

func matching(list, field string, values []string, options map[string]any) map[string]any {
	items := make([]any, len(values))
	for i, v := range values {
		item := map[string]any{field: v}
		for k, o := range options {
			item[k] = o
		}
		items[i] = item
	}
	return map[string]any{list: items}
}

// action never blocks for an audit.
func action(r intent.Rule) string {
	if r.Audit() {
		return "Audit"
	}
	return "Block"
}

// severity is the rule's when it is a number that KubeArmor takes. Intents may have words there as well,
// which have no place in its scale.
func severity(r intent.Rule) (int64, bool) {
	n, err := strconv.ParseInt(r.Severity, 10, 64)
	if err == nil && n >= 1 && n <= 10 {
		return n, true
	}
	if r.Canonical == "pkgMgrs" {
		return 5, true
	}
	return 0, false
}

// inSecondDialect gives the object the form of the public tutorial: action and severity in the section,
// where KubeArmor prefers them to those of the spec, and labels that tell where it comes from.
func inSecondDialect(u *unstructured.Unstructured, p intent.Policy, r intent.Rule) {
	process := u.Object["spec"].(map[string]any)["process"].(map[string]any)
	process["action"] = action(r)
	process["severity"], _ = severity(r)
	labels := u.GetLabels()
	labels["app.kubernetes.io/part-of"] = intent.ShortenName(p.Name+"-nimbuspolicy", 63)
	labels[wellknown.LabelManagedBy] = "nimbus-kubearmor"
	u.SetLabels(labels)
}
