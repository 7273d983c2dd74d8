// SPDX-License-Identifier: Apache-2.0

package awsschema

import (
	"slices"
	"strings"
	"time"
)

// Operation names an operation of a handler.
type Operation string

// The operations of handlers.
const (
	Create Operation = "create"
	Read   Operation = "read"
	Update Operation = "update"
	Delete Operation = "delete"
	List   Operation = "list"
)

// Handlers are the operations that AWS has for the resources of a type.
type Handlers map[Operation]handler

type handler struct {
	Permissions      []string
	TimeoutInMinutes int
}

// Support reports whether the type has a handler for an operation.
func (h Handlers) Support(operation Operation) bool {
	_, ok := h[operation]
	return ok
}

// Permissions returns the IAM actions that the handler of an operation uses, in order.
func (h Handlers) Permissions(operation Operation) []string {
	actions := slices.Clone(h[operation].Permissions)
	slices.Sort(actions)
	return slices.Compact(actions)
}

// defaultTimeout limits a handler that declares no time.
const defaultTimeout = 120 * time.Minute

// Timeout returns how long AWS lets the handler of an operation run.
func (h Handlers) Timeout(operation Operation) time.Duration {
	if minutes := h[operation].TimeoutInMinutes; minutes > 0 {
		return time.Duration(minutes) * time.Minute
	}
	return defaultTimeout
}

// missing returns the operations that Cloud Control needs and that have no handler.
func (h Handlers) missing() []string {
	var out []string
	for _, operation := range []Operation{Create, Read, Delete} {
		if !h.Support(operation) {
			out = append(out, string(operation))
		}
	}
	return out
}

// services returns the services that the handlers call first: those of the type itself.
func (h Handlers) services() []string {
	var out []string
	for _, operation := range []Operation{Create, Update, Delete} {
		for _, action := range h.Permissions(operation) {
			service, _, _ := strings.Cut(action, ":")
			if !slices.Contains(out, service) {
				out = append(out, service)
			}
		}
	}
	return out
}
