// SPDX-License-Identifier: Apache-2.0

package compose

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/appmodel"
)

const gpu corev1.ResourceName = "nvidia.com/gpu"

// setResource sets a request or a limit. A quantity of zero means no limit in Compose.
func (s *service) setResource(isLimit bool, name corev1.ResourceName, q resource.Quantity) {
	if q.IsZero() {
		return
	}
	if s.component.Spec.Resources == nil {
		s.component.Spec.Resources = &nexusv1.ComponentResources{}
	}
	list := &s.component.Spec.Resources.Requests
	if isLimit {
		list = &s.component.Spec.Resources.Limits
	}
	if *list == nil {
		*list = corev1.ResourceList{}
	}
	(*list)[name] = q
}

func (s *service) cpus(v value) error { return s.readResource(true, corev1.ResourceCPU, v, cpuOf) }
func (s *service) memLimit(v value) error {
	return s.readResource(true, corev1.ResourceMemory, v, memoryOf)
}
func (s *service) memReservation(v value) error {
	return s.readResource(false, corev1.ResourceMemory, v, memoryOf)
}

func (s *service) readResource(isLimit bool, name corev1.ResourceName, v value, parse func(value) (resource.Quantity, error)) error {
	q, err := parse(v)
	if err == nil {
		s.setResource(isLimit, name, q)
	}
	return err
}

// deploy reads the number of replicas of a service, and its resources.
func (s *service) deploy(v value) error {
	return v.each(func(e entry) error {
		switch e.key {
		case "replicas":
			return s.scale(e.value)
		case "resources":
			return s.deployResources(e.value)
		case "mode":
			return s.deployMode(e.value)
		case "restart_policy": // pods start again in any case
		default:
			s.note(e.value, "is not carried over: a capability has no such field")
		}
		return nil
	})
}

func (s *service) deployMode(v value) error {
	text, err := v.text()
	if err == nil && text != "replicated" {
		s.note(v, "%s is not carried over: a component has a number of replicas", appmodel.Shown(text))
	}
	return err
}

func (s *service) deployResources(v value) error {
	return v.each(func(e entry) error {
		if e.key != "limits" && e.key != "reservations" {
			return e.fault("is none of limits and reservations")
		}
		return e.each(func(f entry) error { return s.deployResource(e.key == "limits", f) })
	})
}

func (s *service) deployResource(isLimit bool, f entry) error {
	switch f.key {
	case "cpus":
		return s.readResource(isLimit, corev1.ResourceCPU, f.value, cpuOf)
	case "memory":
		return s.readResource(isLimit, corev1.ResourceMemory, f.value, memoryOf)
	case "devices":
		return s.devices(f.value)
	default:
		s.note(f.value, "is not carried over: a component has requests and limits of CPU, memory and devices")
		return nil
	}
}

// devices reads requests of GPUs.
func (s *service) devices(v value) error {
	items, err := v.items()
	for _, item := range items {
		if err := s.device(item); err != nil {
			return err
		}
	}
	return err
}

func (s *service) device(v value) error {
	kinds, has, err := v.get("capabilities")
	if err != nil {
		return err
	}
	var names []string
	if has {
		if names, err = kinds.texts(); err != nil {
			return err
		}
	}
	if !slices.Contains(names, "gpu") && !slices.Contains(names, "nvidia") {
		s.note(v, "is not carried over: of devices, a component has GPUs")
		return nil
	}
	count, has, err := v.get("count")
	if err != nil {
		return err
	}
	number := "1"
	if has {
		if number, err = count.text(); err != nil {
			return err
		}
	}
	return s.addGPUs(v, number)
}

// addGPUs limits a component to a number of GPUs, which Kubernetes takes as the request, too.
func (s *service) addGPUs(v value, number string) error {
	if strings.EqualFold(number, "all") {
		s.note(v, "all GPUs of a node cannot be requested: the component has one; set resources.limits[%s]", gpu)
		number = "1"
	}
	n, err := appmodel.ReadReplicas(number)
	if err != nil {
		return v.fault("%q is no number of GPUs", number)
	}
	s.setResource(true, gpu, *resource.NewQuantity(int64(n), resource.DecimalSI))
	return nil
}

func (s *service) gpus(v value) error {
	if v.isScalar() {
		text, err := v.text()
		if err != nil {
			return err
		}
		return s.addGPUs(v, text)
	}
	return s.devices(v)
}
