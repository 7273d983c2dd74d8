// SPDX-License-Identifier: Apache-2.0

// Package metrics defines every metric of the operator, once: the collectors are made from the definitions, and
// docs/metrics.md is generated from them. A leaf: it imports no other room.
package metrics
