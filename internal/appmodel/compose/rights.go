// SPDX-License-Identifier: Apache-2.0

package compose

import (
	"strconv"
	"strings"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/appmodel"
)

// rights reads the fields of a service about the user and the rights of its processes.
type rights struct{ draft }

func (d rights) user(v value) error {
	text, err := v.text()
	if err != nil {
		return err
	}
	name, group, _ := strings.Cut(text, ":")
	if id, err := strconv.ParseInt(name, 10, 32); err == nil && id > 0 {
		d.context().RunAsUser = &id
	} else {
		d.note(v, "%s is not carried over: pods do not run as root, and need the number of a user; set a user with a number in the image",
			appmodel.Shown(text))
		return nil
	}
	if gid, err := strconv.ParseInt(group, 10, 32); err == nil && gid >= 0 {
		d.context().RunAsGroup = &gid
	}
	return nil
}

func (d rights) context() *nexusv1.SecurityContextSpec {
	if d.component.Spec.SecurityContext == nil {
		d.component.Spec.SecurityContext = &nexusv1.SecurityContextSpec{}
	}
	return d.component.Spec.SecurityContext
}

func (d rights) readOnly(v value) error {
	on, err := v.flag()
	if on {
		d.context().ReadOnlyRootFilesystem = new(true)
	}
	return err
}

func (d rights) privileged(v value) error {
	on, err := v.flag()
	if on {
		d.note(v, "is not carried over: pods meet Pod Security restricted")
	}
	return err
}

func (d rights) capAdd(v value) error {
	list, err := v.texts()
	for _, name := range list {
		if strings.TrimPrefix(name, "CAP_") == "NET_BIND_SERVICE" {
			d.context().Capabilities = &nexusv1.CapabilitiesSpec{Add: []nexusv1.LinuxCapability{"NET_BIND_SERVICE"}}
			continue
		}
		d.note(v, "%s is not carried over: pods meet Pod Security restricted", appmodel.Shown(name))
	}
	return err
}
