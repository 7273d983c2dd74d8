// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package osproc

import "syscall"

// Child starts a process in a new group. On Linux, it ends with the thread that started it.
func Child() *syscall.SysProcAttr { return Group() }
