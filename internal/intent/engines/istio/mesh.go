// SPDX-License-Identifier: Apache-2.0

package istio

// waypointOf is the waypoint that a namespace's traffic goes through, or empty.
func waypointOf(labels map[string]string) string {
	if w := labels["istio.io/use-waypoint"]; w != "none" {
		return w
	}
	return ""
}
