// SPDX-License-Identifier: Apache-2.0

package intent

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// Patches is the administrator's catalog of mitigations, by CVE.
type Patches struct {
	Known map[string]Patch
	// Reason and Problem say why there is no catalog; empty when there is one.
	Reason, Problem string
}

// Patch lists the actions to deny in a container, so that a vulnerability cannot be exploited until the image is patched.
type Patch struct {
	// CVE such as CVE-2021-4034.
	CVE string `json:"cve"`
	// Description describes the mitigation in a sentence.
	Description string `json:"description"`
	// References are public pages that describe the vulnerability or the mitigation.
	References []string `json:"references"`
	// Processes must not be executed, Files not be opened.
	Processes []PatchPath `json:"processes,omitempty"`
	Files     []PatchPath `json:"files,omitempty"`
}

// PatchPath is a file, or all below a directory when the path ends with a slash.
type PatchPath struct {
	Path string `json:"path"`
	// From are the executables that must not use it; none stands for all.
	From []string `json:"from,omitempty"`
	// ReadOnly lets files be read.
	ReadOnly bool `json:"readOnly,omitempty"`
}

// Bounds of a catalog.
const (
	maxPatches    = 512
	maxPatchPaths = 64
)

var cveName = regexp.MustCompile(`^CVE-\d{4}-\d{4,7}$`)

func cve(v string) string {
	if !cveName.MatchString(v) {
		return "is not a CVE such as CVE-2021-4034"
	}
	return ""
}

// ParsePatches reads a catalog. It is refused as a whole for any mistake: a mitigation that is misread holds
// nothing. The error names the entry and the field.
func ParsePatches(text string) (map[string]Patch, error) {
	var file struct {
		Version int     `json:"version"`
		Patches []Patch `json:"patches"`
	}
	if err := yaml.UnmarshalStrict([]byte(text), &file); err != nil {
		return nil, err
	}
	if file.Version != 1 {
		return nil, fmt.Errorf("version is %d, and must be 1", file.Version)
	}
	if len(file.Patches) > maxPatches {
		return nil, fmt.Errorf("%d patches, and at most %d are read", len(file.Patches), maxPatches)
	}
	out := map[string]Patch{}
	for i, p := range file.Patches {
		if problem := p.check(); problem != "" {
			return nil, fmt.Errorf("patches[%d]: %s", i, problem)
		}
		if _, twice := out[p.CVE]; twice {
			return nil, fmt.Errorf("patches[%d]: %s is there twice", i, p.CVE)
		}
		out[p.CVE] = p
	}
	return out, nil
}

func (p Patch) check() string {
	if problem := cve(p.CVE); problem != "" {
		return fmt.Sprintf("cve: %q %s", p.CVE, problem)
	}
	if len(p.References) == 0 {
		return "references: at least one public page must describe the mitigation"
	}
	for _, r := range p.References {
		if !strings.HasPrefix(r, "https://") {
			return fmt.Sprintf("references: %q does not start with https://", r)
		}
	}
	if n := len(p.Processes) + len(p.Files); n == 0 || n > maxPatchPaths {
		return fmt.Sprintf("processes and files: %d paths, and there must be 1 to %d", n, maxPatchPaths)
	}
	for _, f := range slices.Concat(p.Processes, p.Files) {
		for _, at := range append([]string{f.Path}, f.From...) {
			if !literalPath(at) {
				return fmt.Sprintf("%q is not an absolute path without patterns", at)
			}
		}
	}
	return ""
}

// literalPath reports whether a path is absolute, without patterns and in its shortest form.
func literalPath(at string) bool {
	return path.IsAbs(at) && path.Clean(at) == strings.TrimSuffix(at, "/") && !strings.ContainsAny(at, "*?[]{}\n")
}
