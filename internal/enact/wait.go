// SPDX-License-Identifier: Apache-2.0

package enact

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/exit"
)

// StillWaiting is the error of a wait that ran out of time.
type StillWaiting struct{ Left string }

// Error implements error.
func (w *StillWaiting) Error() string { return w.Left }

// NotReadyWithin explains a wait that was too short, and returns other errors as they are.
func NotReadyWithin(err error, u *unstructured.Unstructured, timeout time.Duration, see string) error {
	if waiting, ok := errors.AsType[*StillWaiting](err); ok {
		return &exit.Failure{Code: exit.CodeTimeout, Err: fmt.Errorf("%s: not ready within %s: %s; see %s", console.TitleOf(u), timeout,
			waiting.Left, see)}
	}
	return err
}

// WaitFor waits until an object needs nothing any more. The error is a *StillWaiting when the time is over, and an
// *exit.Interruption when the command is interrupted.
func WaitFor(ctx, limited context.Context, c client.Client, u *unstructured.Unstructured,
	left func(*unstructured.Unstructured) (string, error)) error {
	missing := "it was not seen yet"
	now := &unstructured.Unstructured{}
	now.SetGroupVersionKind(u.GroupVersionKind())
	err := WaitUntil(ctx, limited, func(ctx context.Context) (bool, error) {
		if err := c.Get(ctx, client.ObjectKeyFromObject(u), now); err != nil {
			if meta.IsNoMatchError(err) {
				return false, nil
			}
			return false, client.IgnoreNotFound(err)
		}
		var err error
		missing, err = left(now)
		return missing == "", err
	})
	if limited.Err() != nil && ctx.Err() == nil {
		return &StillWaiting{Left: missing}
	}
	return err
}

// WaitUntil looks until a look finds all done. The error is an *exit.Interruption when the command is interrupted.
func WaitUntil(ctx, limited context.Context, look func(context.Context) (bool, error)) error {
	err := wait.PollUntilContextCancel(limited, PollInterval, true, look)
	if ctx.Err() != nil {
		return &exit.Interruption{Text: "The command was interrupted while it waited. What it has changed stays, and what it has requested continues. To continue, run the command again."}
	}
	return err
}

// NotEstablished returns the condition that a definition still waits for; empty when it is served.
func NotEstablished(u *unstructured.Unstructured) (string, error) {
	value, _, err := unstructured.NestedFieldNoCopy(u.Object, "status", "conditions")
	conditions, _ := value.([]any) // null for a moment after the definition was created
	for _, c := range conditions {
		if m, ok := c.(map[string]any); ok && m["type"] == "Established" && m["status"] == "True" {
			return "", err
		}
	}
	return "the definition is not established", err
}

// PollInterval is the pause between two looks of a waiting command at an object.
const PollInterval = 500 * time.Millisecond

// RolloutLeft describes the missing part of a rollout; empty when every pod is of the last template and
// ready, and no other pod is left.
func RolloutLeft(u *unstructured.Unstructured) (string, error) {
	numbers := map[string]int64{}
	for _, name := range []string{"observedGeneration", "replicas", "updatedReplicas", "readyReplicas"} {
		n, _, err := unstructured.NestedInt64(u.Object, "status", name)
		if err != nil {
			return "", err
		}
		numbers[name] = n
	}
	want, found, err := unstructured.NestedInt64(u.Object, "spec", "replicas")
	if err != nil {
		return "", err
	}
	if !found {
		want = 1
	}
	switch {
	case numbers["observedGeneration"] < u.GetGeneration():
		return "the change is not observed yet", nil
	case numbers["updatedReplicas"] < want:
		return fmt.Sprintf("%d of %d pods are replaced", numbers["updatedReplicas"], want), nil
	case numbers["replicas"] > want:
		return fmt.Sprintf("%d old pods are ending", numbers["replicas"]-want), nil
	case numbers["readyReplicas"] < want:
		return fmt.Sprintf("%d of %d pods are ready", numbers["readyReplicas"], want), nil
	default:
		return "", nil
	}
}

// PatchTimeout ends a request that the API server does not answer.
const PatchTimeout = 30 * time.Second
