// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Usage holds the resources that the operator's process has used so far, as Linux counts them in /proc.
type Usage struct {
	// CPU is the time in user and kernel mode since the start, in steps of 10 ms.
	CPU time.Duration
	// Anonymous is the memory that no file backs, now, in bytes: heap, stacks, and memory that the runtime has not returned to the system.
	Anonymous int64
	// Peak is the largest resident memory since the start, in bytes, with the pages of the binary.
	Peak int64
}

// tick is the unit of CPU times in /proc: USER_HZ is 100 on every architecture that Go supports.
const tick = 10 * time.Millisecond

// Usage reads the usage of this process alone.
func (o *Operator) Usage() (Usage, error) {
	var u Usage
	var err error
	if u.CPU, err = CPUTime(o.PID()); err != nil {
		return u, err
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", o.PID()))
	if err != nil {
		return u, fmt.Errorf("reading the memory of the operator: %w", err)
	}
	u.Anonymous, u.Peak = kilobytes(text, "RssAnon:"), kilobytes(text, "VmHWM:")
	if u.Anonymous == 0 || u.Peak == 0 {
		return u, fmt.Errorf("/proc/%d/status has no RssAnon or VmHWM", o.PID())
	}
	return u, nil
}

// CPUTime returns the time in user and kernel mode that a process has used so far, in steps of 10 ms.
func CPUTime(pid int) (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, fmt.Errorf("reading CPU time: %w", err)
	}
	return cpuTime(text)
}

// cpuTime reads utime and stime: fields 14 and 15, counted behind the command in parentheses, which is field 2.
func cpuTime(stat []byte) (time.Duration, error) {
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 13 {
		return 0, fmt.Errorf("unexpected form of /proc/PID/stat: %q", stat)
	}
	user, err := strconv.ParseInt(fields[11], 10, 64)
	if err != nil {
		return 0, err
	}
	system, err := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * tick, err
}

// kilobytes reads a line such as `RssAnon:  40212 kB` and returns bytes; 0 where there is no such line.
func kilobytes(status []byte, field string) int64 {
	for lines := bufio.NewScanner(bytes.NewReader(status)); lines.Scan(); {
		if f := strings.Fields(lines.Text()); len(f) == 3 && f[0] == field {
			n, _ := strconv.ParseInt(f[1], 10, 64)
			return n << 10
		}
	}
	return 0
}

// Sampler follows the memory of a process.
type Sampler struct {
	stop chan struct{}
	done sync.WaitGroup

	mu   sync.Mutex
	peak int64
}

// sampleEvery is short against a garbage collection cycle.
const sampleEvery = 20 * time.Millisecond

// SampleMemory follows the anonymous memory of the operator until Stop.
func (o *Operator) SampleMemory() *Sampler {
	s := &Sampler{stop: make(chan struct{})}
	s.done.Go(func() {
		ticker := time.NewTicker(sampleEvery)
		defer ticker.Stop()
		for {
			if u, err := o.Usage(); err == nil {
				s.mu.Lock()
				s.peak = max(s.peak, u.Anonymous)
				s.mu.Unlock()
			}
			select {
			case <-s.stop:
				return
			case <-ticker.C:
			}
		}
	})
	return s
}

// Stop ends the sampling and returns the largest anonymous memory seen, in bytes; 0 if the process could not be read.
func (s *Sampler) Stop() int64 {
	close(s.stop)
	s.done.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.peak
}
