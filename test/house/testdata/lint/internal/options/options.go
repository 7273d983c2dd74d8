// SPDX-License-Identifier: Apache-2.0

// Package options may read the environment.
package options

import "os"

// Name is read from the environment.
var Name = os.Getenv("NAME")
