// SPDX-License-Identifier: Apache-2.0

package compose

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/appmodel"
)

const gpu corev1.ResourceName = "nvidia.com/gpu"

// resources reads the CPU, the memory and the GPUs of a service.
type resources struct{ draft }

// set sets a request or a limit. A quantity of zero means no limit in Compose.
func (d resources) set(isLimit bool, name corev1.ResourceName, q resource.Quantity) {
	if q.IsZero() {
		return
	}
	if d.component.Spec.Resources == nil {
		d.component.Spec.Resources = &nexusv1.ComponentResources{}
	}
	list := &d.component.Spec.Resources.Requests
	if isLimit {
		list = &d.component.Spec.Resources.Limits
	}
	if *list == nil {
		*list = corev1.ResourceList{}
	}
	(*list)[name] = q
}

func (d resources) cpus(v value) error { return d.read(true, corev1.ResourceCPU, v, cpuOf) }

func (d resources) memLimit(v value) error {
	return d.read(true, corev1.ResourceMemory, v, memoryOf)
}

func (d resources) memReservation(v value) error {
	return d.read(false, corev1.ResourceMemory, v, memoryOf)
}

func (d resources) read(isLimit bool, name corev1.ResourceName, v value, parse func(value) (resource.Quantity, error)) error {
	q, err := parse(v)
	if err == nil {
		d.set(isLimit, name, q)
	}
	return err
}

// deploy reads the limits and the reservations below deploy.
func (d resources) deploy(v value) error {
	return v.each(func(e entry) error {
		if e.key != "limits" && e.key != "reservations" {
			return e.fault("is none of limits and reservations")
		}
		return e.each(func(f entry) error { return d.deployed(e.key == "limits", f) })
	})
}

func (d resources) deployed(isLimit bool, f entry) error {
	switch f.key {
	case "cpus":
		return d.read(isLimit, corev1.ResourceCPU, f.value, cpuOf)
	case "memory":
		return d.read(isLimit, corev1.ResourceMemory, f.value, memoryOf)
	case "devices":
		return d.devices(f.value)
	default:
		d.note(f.value, "is not carried over: a component has requests and limits of CPU, memory and devices")
		return nil
	}
}

// devices reads requests of GPUs.
func (d resources) devices(v value) error {
	items, err := v.items()
	for _, item := range items {
		if err := d.device(item); err != nil {
			return err
		}
	}
	return err
}

func (d resources) device(v value) error {
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
		d.note(v, "is not carried over: of devices, a component has GPUs")
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
	return d.addGPUs(v, number)
}

// addGPUs limits a component to a number of GPUs, which Kubernetes takes as the request, too.
func (d resources) addGPUs(v value, number string) error {
	if strings.EqualFold(number, "all") {
		d.note(v, "all GPUs of a node cannot be requested: the component has one; set resources.limits[%s]", gpu)
		number = "1"
	}
	n, err := appmodel.ReadReplicas(number)
	if err != nil {
		return v.fault("%q is no number of GPUs", number)
	}
	d.set(true, gpu, *resource.NewQuantity(int64(n), resource.DecimalSI))
	return nil
}

func (d resources) gpus(v value) error {
	if v.isScalar() {
		text, err := v.text()
		if err != nil {
			return err
		}
		return d.addGPUs(v, text)
	}
	return d.devices(v)
}

// memory matches sizes as Compose writes them.
var memory = regexp.MustCompile(`(?i)^([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)(i?b)?$`)

// memoryOf reads a size: a number of bytes, or with a unit of 1024.
func memoryOf(v value) (resource.Quantity, error) {
	text, err := v.text()
	if err != nil {
		return resource.Quantity{}, err
	}
	m := memory.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return resource.Quantity{}, v.fault("%q is no size: write it as 512m", text)
	}
	unit := map[string]string{"k": "Ki", "m": "Mi", "g": "Gi", "t": "Ti"}[strings.ToLower(m[2])]
	q, err := resource.ParseQuantity(m[1] + unit)
	if err != nil {
		return q, v.fault("%q is no size: %v", text, err)
	}
	return q, nil
}

// cpuOf reads a number of CPUs.
func cpuOf(v value) (resource.Quantity, error) {
	text, err := v.text()
	if err != nil {
		return resource.Quantity{}, err
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n < 0 || n > 10000 {
		return resource.Quantity{}, v.fault("%q is no number of CPUs", text)
	}
	return *resource.NewMilliQuantity(int64(math.Ceil(n*1000)), resource.DecimalSI), nil
}
