// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// restLook is the interval between two checks whether the operator is at rest.
	restLook = 15 * time.Second
	// restAllocation is the most that is allocated between two looks at rest: by probes and by scrapes of metrics.
	restAllocation = 4 << 20
)

// memoryReturner returns memory to the system as soon as the operator is at rest. The Go runtime keeps about as much free memory as is in
// use, so that new allocations need no system call; at rest no memory is needed. It implements manager.Runnable and
// manager.LeaderElectionRunnable: a standby fills its caches and rests as well.
type memoryReturner struct{ idleness idleness }

// Start implements manager.Runnable.
func (m *memoryReturner) Start(ctx context.Context) error {
	look := time.NewTicker(restLook)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-look.C:
			if m.idleness.begins(allocatedBytes()) {
				debug.FreeOSMemory()
			}
		}
	}
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (*memoryReturner) NeedLeaderElection() bool { return false }

// allocatedBytes counts the bytes that were allocated since the process began.
func allocatedBytes() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// idleness derives from the allocated bytes whether the operator works.
type idleness struct {
	allocated uint64
	resting   bool
}

// begins reports at a look that the operator is at rest and was not at the look before.
func (r *idleness) begins(allocated uint64) bool {
	worked, rested := allocated-r.allocated > restAllocation, r.resting
	r.allocated, r.resting = allocated, !worked
	return !worked && !rested
}
