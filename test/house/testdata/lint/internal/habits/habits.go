// SPDX-License-Identifier: Apache-2.0

// Package habits has the calls that are forbidden.
package habits

import (
	"context"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Forbidden makes each call that is forbidden.
func Forbidden(c client.Client, o client.Object, conds []metav1.Condition) (bool, error) {
	start := time.Now()                               // want forbidigo: inject the clock
	_, found := os.LookupEnv("NAME")                  // want forbidigo: internal/options reads the environment
	found = found && os.Getenv("NAME") != ""          // want forbidigo: internal/options reads the environment
	found = found && len(os.Environ()) > 0            // want forbidigo: internal/options reads the environment
	ctx := context.TODO()                             // want forbidigo: take the caller's context
	registered := context.Background()                // only registers functions
	if err := c.Status().Update(ctx, o); err != nil { // want forbidigo: patch the status
		return false, err
	}
	meta.SetStatusCondition(&conds, metav1.Condition{}) // want forbidigo: status.Set ends the message
	if err := c.Status().Patch(registered, o, client.Merge); err != nil {
		return false, err
	}
	return found && start.IsZero(), c.Get(context.Background(), client.ObjectKeyFromObject(o), o) // want forbidigo: take the caller's context
}
