// SPDX-License-Identifier: Apache-2.0

// Package osproc starts, ends and locks processes where operating systems differ. Local worlds need it; on Windows, which has
// neither their programs nor sessions of processes, every function returns ErrUnsupported.
package osproc

import "errors"

// ErrUnsupported says that the operating system has no local worlds.
var ErrUnsupported = errors.New("a local world needs Linux or macOS; on Windows, use the Windows Subsystem for Linux")
