// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"
	"time"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// IsWaiting reports whether the stores of a deleted capability are kept until the time is over.
func IsWaiting(c *nexusv1.NexusAICapability) bool {
	return c.Status.Recovery != nil && c.Status.Recovery.State == nexusv1.RecoveryWaiting
}

// keepsStores reports whether the deletion has removed all objects before the stores and waits for the end of the recovery time.
func (s summary) keepsStores() bool {
	return IsWaiting(s.Capability) && !slices.ContainsFunc(s.nodes,
		func(v view) bool { return parts.StageOf(v.ID) <= parts.StageOf(part.KindRole+"/") })
}

func (s summary) recoverableError() error {
	until := s.Capability.Status.Recovery.Until.UTC().Format(time.RFC3339)
	return &status.Waiting{Reason: status.ReasonRecoverable, For: fmt.Sprintf(
		"%s, until when the deletion can be undone: `nexusctl undo` brings the capability back, and `nexusctl delete-now` ends the wait; status.recovery lists what is kept", until)}
}
