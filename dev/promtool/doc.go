// SPDX-License-Identifier: Apache-2.0

// Package promtool tests the chart's alerts with Prometheus' own tool, and holds the queries of alerts and dashboards against
// docs/metrics.md and a run of the demo. A module of its own keeps Prometheus out of the operator's go.mod; go.mod pins promtool as a tool.
package promtool
