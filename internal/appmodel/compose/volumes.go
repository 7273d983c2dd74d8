// SPDX-License-Identifier: Apache-2.0

package compose

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/appmodel"
)

// volumes reads the volumes of a service. Of these, a component has those for temporary files.
type volumes struct{ draft }

// read takes tmpfs over and notes all others.
func (d volumes) read(v value) error {
	items, err := v.items()
	for _, item := range items {
		if err := d.volume(item); err != nil {
			return err
		}
	}
	return err
}

func (d volumes) volume(v value) error {
	if v.isScalar() {
		text, err := v.text()
		if err != nil {
			return err
		}
		d.noteVolume(v, text)
		return nil
	}
	field := map[string]string{}
	for _, key := range []string{"type", "source", "target"} {
		f, has, err := v.get(key)
		if err != nil {
			return err
		}
		if !has {
			continue
		}
		if field[key], err = f.text(); err != nil {
			return err
		}
	}
	if field["type"] == "tmpfs" {
		return d.addScratch(v, field["target"])
	}
	d.noteVolume(v, field["source"]+":"+field["target"])
	return nil
}

func (d volumes) noteVolume(v value, text string) {
	reason := "pods of a capability keep no files; use a bucket of dataServices.s3 or a table of dataServices.dynamodb, or add a path for temporary files to scratchVolumes"
	switch {
	case strings.Contains(text, "docker.sock"):
		reason = "pods cannot control the containers of the node"
	case strings.HasPrefix(text, ".") || strings.HasPrefix(text, "/") || strings.HasPrefix(text, "~"):
		reason = "pods do not see files of this machine; put them into the image, or into a bucket of dataServices.s3"
	}
	d.note(v, "%s is not carried over: %s", appmodel.Shown(text), reason)
}

func (d volumes) tmpfs(v value) error {
	paths, err := v.texts()
	for _, p := range paths {
		target, _, _ := strings.Cut(p, ":")
		if err := d.addScratch(v, target); err != nil {
			return err
		}
	}
	return err
}

var mountPath = regexp.MustCompile(`^(/[A-Za-z0-9_][A-Za-z0-9._-]*)+$`)

func (d volumes) addScratch(v value, target string) error {
	target = path.Clean(target)
	list := &d.component.Spec.ScratchVolumes
	switch {
	case len(target) > 256 || !mountPath.MatchString(target) || strings.HasPrefix(target, "/run/secrets") ||
		strings.HasPrefix(target, "/var/run/secrets"):
		return v.fault("%q is no path for temporary files", target)
	case slices.ContainsFunc(*list, func(have nexusv1.ScratchVolume) bool { return have.MountPath == target }):
	case len(*list) == 8:
		d.note(v, "%s is not carried over: a component has at most 8 volumes for temporary files", target)
	default:
		*list = append(*list, nexusv1.ScratchVolume{Name: fmt.Sprintf("tmp-%d", len(*list)+1), MountPath: target})
	}
	return nil
}
