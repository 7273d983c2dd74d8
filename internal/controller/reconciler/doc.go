// SPDX-License-Identifier: Apache-2.0

// Package reconciler holds the code that the reconcilers share: their environment, the intervals and the backoff, the predicates and the
// indexes of watches, and rules that more than one of them follows, such as which capability holds a name.
package reconciler
