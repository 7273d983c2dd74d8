// SPDX-License-Identifier: Apache-2.0

package osproc

import (
	"errors"
	"syscall"
)

// IsBrokenPipe reports whether an error says that no one reads what was written any more.
func IsBrokenPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }
