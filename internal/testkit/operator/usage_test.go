// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"os"
	"os/exec"
	"testing"
	"time"
)

func TestCPUTimeSkipsCommandsWithSpaces(t *testing.T) {
	got, err := cpuTime([]byte("4242 (an ) odd name) S 1 2 3 4 5 6 7 8 9 10 150 25 7 8 20 0 9"))
	if err != nil || got != 1750*time.Millisecond {
		t.Errorf("got %s, %v; want 1.75s", got, err)
	}
	if _, err := cpuTime([]byte("4242 (short) S 1")); err == nil {
		t.Error("a short line gives no error")
	}
}

func TestUsageOfALivingProcess(t *testing.T) {
	o := &Operator{cmd: &exec.Cmd{Process: &os.Process{Pid: os.Getpid()}}}
	s := o.SampleMemory()
	block := make([]byte, 64<<20)
	for i := range block {
		block[i] = byte(i)
	}
	before, err := o.Usage()
	if err != nil {
		t.Fatal(err)
	}
	for start := time.Now(); time.Since(start) < 100*time.Millisecond; {
		block[len(block)/2]++
	}
	after, err := o.Usage()
	if err != nil {
		t.Fatal(err)
	}
	if spent := after.CPU - before.CPU; spent < 3*tick {
		t.Errorf("a loop of 100 ms took %s of CPU", spent)
	}
	if peak := s.Stop(); peak < int64(len(block)) || after.Peak < peak {
		t.Errorf("anonymous peak %d, resident peak %d, of which %d were written", peak, after.Peak, len(block))
	}
}
