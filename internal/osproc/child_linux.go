// SPDX-License-Identifier: Apache-2.0

package osproc

import "syscall"

// Child starts a process in a new group. On Linux, it ends with the thread that started it.
func Child() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
