// SPDX-License-Identifier: Apache-2.0

package devworld

import (
	"fmt"
	"os"
	"strings"
)

// startOf returns when a process was started: the boot of the machine, and the time since. It is empty for a process that
// does not exist, or has ended and only waits to be noticed by its parent. See proc_pid_stat(5).
func startOf(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	// The name of the program, in parentheses, may hold anything. The state is the first field behind it.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	const stateField, startField = 0, 19
	if len(fields) <= startField || fields[stateField] == "Z" || fields[stateField] == "X" {
		return ""
	}
	return strings.TrimSpace(string(boot)) + " " + fields[startField]
}
