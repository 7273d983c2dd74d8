// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"time"
)

// TagCreatedBy marks the resources and objects that this package creates.
const TagCreatedBy = "nexus.ai/created-by"

// creator is the value of TagCreatedBy, and the field manager of Kubernetes objects.
const creator = "nexusctl"

// Change is a difference between the existing state and the state that an installation needs.
type Change struct {
	// Object is the ARN of the changed resource, or the kind and the name of a Kubernetes object.
	Object string `json:"object"`
	// Action describes the change in words.
	Action string `json:"action"`
	// Diff shows a document before and after; empty when there is none.
	Diff string `json:"diff,omitempty"`
	// Creates records the new objects of the change; nil when it creates nothing. Do completes it.
	Creates *Record `json:"-"`
	// Removes is the record of the removed object; nil when the change removes nothing.
	Removes *Record `json:"-"`
	// Limit bounds the time of the change; 0 stands for the time that a single request may take.
	Limit time.Duration `json:"-"`

	do func(context.Context) error
}

// Do makes the change. Doing it twice is harmless. Errors are the kinds that awsclient.Explain returns, and for Kubernetes
// objects those of the API server.
func (c Change) Do(ctx context.Context) error { return c.do(ctx) }

// Doing returns the change with a function that makes it: for changes that this package cannot make.
func (c Change) Doing(do func(context.Context) error) Change {
	c.do = do
	return c
}

// Forget returns the change that only drops a record, and says why the recorded object stays.
func Forget(r Record, why string) Change {
	return Change{Object: r.String(), Action: why, Removes: &r, do: func(context.Context) error { return nil }}
}
