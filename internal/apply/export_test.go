// SPDX-License-Identifier: Apache-2.0

package apply

import "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

// Differences is differences for tests outside the package.
func Differences(desired, live *unstructured.Unstructured) []Difference {
	return differences(desired, live, false)
}
