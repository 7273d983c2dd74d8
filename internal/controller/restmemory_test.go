// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"runtime/metrics"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestIdleness_BeginsOnceAfterEachBurst(t *testing.T) {
	const little, much = restAllocation / 2, restAllocation * 2
	r, allocated := idleness{}, uint64(0)
	var got []bool
	for _, more := range []uint64{much, little, little, much, much, little, little} {
		allocated += more
		got = append(got, r.begins(allocated))
	}
	if want := []bool{false, true, false, false, false, true, false}; !slices.Equal(got, want) {
		t.Errorf("rest begins %v, want %v", got, want)
	}
}

var burst []byte

func TestMemoryReturner_ReturnsWhatABurstLeft(t *testing.T) {
	free := func() uint64 {
		sample := []metrics.Sample{{Name: "/memory/classes/heap/free:bytes"}, {Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64() + sample[1].Value.Uint64()
	}
	synctest.Test(t, func(t *testing.T) {
		m := &memoryReturner{}
		go func() { _ = m.Start(t.Context()) }()
		burst = make([]byte, 64<<20)
		for i := range burst {
			burst[i] = 1
		}
		full := free()
		burst = nil
		time.Sleep(3 * restLook)
		synctest.Wait()
		if after := free(); full < 64<<20 || after > full-(60<<20) {
			t.Errorf("the process held %d MiB, and holds %d MiB at rest", full>>20, after>>20)
		}
	})
}
