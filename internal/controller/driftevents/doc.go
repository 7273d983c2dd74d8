// SPDX-License-Identifier: Apache-2.0

// Package driftevents reads the queues that report changes in AWS and requests checks of the objects with changed resources. A message
// never causes more than a read: the check that follows decides.
package driftevents
