// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package devworld

import (
	"os/exec"
	"strconv"
	"strings"
)

// startOf returns when a process was started, as ps prints it. It is empty for a process that does not exist, or has ended
// and only waits to be noticed by its parent.
func startOf(pid int) string {
	out, err := exec.Command("ps", "-o", "stat=,lstart=", "-p", strconv.Itoa(pid)).Output()
	state, start, found := strings.Cut(strings.TrimSpace(string(out)), " ")
	if err != nil || !found || strings.HasPrefix(state, "Z") {
		return ""
	}
	return strings.TrimSpace(start)
}
