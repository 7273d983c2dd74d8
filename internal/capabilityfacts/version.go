// SPDX-License-Identifier: Apache-2.0

package capabilityfacts

import (
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/version"
)

// drainSince is the first minor version of Kubernetes 1 that enables lifecycle.preStop.sleep by default.
// https://kubernetes.io/docs/reference/command-line-tools-reference/feature-gates/#PodLifecycleSleepAction
const drainSince = 30

// LacksDrain reports whether the API server of a version does not know lifecycle.preStop.sleep. A version that says nothing is taken for a
// recent one. EKS and others append a plus sign to the minor version.
func LacksDrain(v version.Info) bool {
	minor, err := strconv.Atoi(strings.TrimRight(v.Minor, "+"))
	return err == nil && v.Major == "1" && minor < drainSince
}
