// SPDX-License-Identifier: Apache-2.0

package kubearmor

import (
	"cmp"
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/intent"
)

// patches makes a policy for each CVE and section that the administrator's catalog has a mitigation for.
func patches(p intent.Policy, r intent.Rule, f intent.Facts) ([]part, intent.Claim) {
	cves := r.Params["cveList"]
	if len(cves) == 0 {
		return nil, intent.Not(r, intent.ReasonInvalidParams, "params.cveList must name the vulnerabilities")
	}
	if c := claimOf(p, r, true); c.Reason != "" {
		return nil, c
	}
	if f.Patches.Known == nil {
		return nil, intent.Not(r, cmp.Or(f.Patches.Reason, intent.ReasonCatalogMissing),
			cmp.Or(f.Patches.Problem, "there is no catalog of virtual patches"))
	}
	var parts []part
	var unknown []string
	seen := map[string]bool{}
	for _, cve := range cves {
		patch, known := f.Patches.Known[cve]
		switch {
		case seen[cve]:
		case !known:
			unknown = append(unknown, cve)
		default:
			patch.CVE = cve
			parts = append(parts, partsOfPatch(patch)...)
		}
		seen[cve] = true
	}
	message := "the catalog of virtual patches has no mitigation for " + strings.Join(unknown, ", ") + ": add one, or patch the image"
	switch {
	case len(unknown) == 0:
		return parts, intent.Enforces(r)
	case len(parts) == 0:
		return nil, intent.Not(r, intent.ReasonUnknownCVE, message)
	default:
		return parts, intent.Partly(r, intent.ReasonUnknownCVE, message)
	}
}

func partsOfPatch(patch intent.Patch) []part {
	name := strings.ToLower(patch.CVE)
	var out []part
	for section, list := range map[string][]intent.PatchPath{"process": patch.Processes, "file": patch.Files} {
		if len(list) == 0 {
			continue
		}
		rules := map[string]any{}
		for _, at := range atAllPaths(list) {
			key, entry := "matchPaths", map[string]any{"path": at.Path}
			if strings.HasSuffix(at.Path, "/") {
				key, entry = "matchDirectories", map[string]any{"dir": at.Path, "recursive": true}
			}
			if at.ReadOnly && section == "file" {
				entry["readOnly"] = true
			}
			if len(at.From) > 0 {
				var from []any
				for _, f := range at.From {
					from = append(from, map[string]any{"path": f})
				}
				entry["fromSource"] = from
			}
			all, _ := rules[key].([]any)
			rules[key] = append(all, entry)
		}
		out = append(out, part{suffix: name + "-" + section, section: section, rules: rules})
	}
	slices.SortFunc(out, func(a, b part) int { return strings.Compare(a.suffix, b.suffix) })
	return out
}

// atAllPaths adds the same files at their other paths, unless the list has these itself.
func atAllPaths(list []intent.PatchPath) []intent.PatchPath {
	var out []intent.PatchPath
	listed := func(at string) bool {
		return slices.ContainsFunc(slices.Concat(list, out), func(p intent.PatchPath) bool { return p.Path == at })
	}
	for _, p := range list {
		var from []string
		for _, f := range p.From {
			from = append(from, pathsOf(f)...)
		}
		slices.Sort(from)
		p.From = slices.Compact(from)
		out = append(out, p)
		for _, at := range pathsOf(p.Path)[1:] {
			if !listed(at) {
				p.Path = at
				out = append(out, p)
			}
		}
	}
	return out
}

// pathsOf returns a path and the others that the file may have. KubeArmor sees a file at the path behind all links, and in most images
// these directories are links, and in others directories.
func pathsOf(at string) []string {
	out := []string{at}
	for _, dirs := range [][2]string{{"/var/run/", "/run/"}, {"/var/lock/", "/run/lock/"}, {"/bin/", "/usr/bin/"}, {"/sbin/", "/usr/sbin/"},
		{"/lib/", "/usr/lib/"}, {"/lib64/", "/usr/lib64/"}} {
		for i, dir := range dirs {
			if rest, below := strings.CutPrefix(at, dir); below {
				out = append(out, dirs[1-i]+rest)
			}
		}
	}
	return out
}
