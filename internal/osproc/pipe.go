// SPDX-License-Identifier: Apache-2.0

package osproc

import (
	"errors"
	"syscall"
)

// IsBrokenPipe reports whether an error says that the reader of the output is gone.
func IsBrokenPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }
