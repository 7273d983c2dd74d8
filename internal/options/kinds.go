// SPDX-License-Identifier: Apache-2.0

package options

import (
	"fmt"
	"slices"
	"strings"
)

// AllKinds stands for every AWS kind in Kinds.
const AllKinds = "*"

// Kinds selects the AWS kinds that the operator serves: names of kinds, AllKinds for every one, and names after a minus sign for
// those that are left out. A list of nothing but such names, and an empty list, select all others. An AWSProvider is always served.
type Kinds []string

// Serves reports whether a kind is selected.
func (k Kinds) Serves(name string) bool {
	if slices.Contains(k, "-"+name) {
		return false
	}
	return slices.Contains(k, name) || slices.Contains(k, AllKinds) || !slices.ContainsFunc(k, isSelection)
}

// isSelection reports whether an element of Kinds selects kinds rather than leaving one out.
func isSelection(element string) bool { return !strings.HasPrefix(element, "-") }

// Check returns an error that names the valid kinds if an element names none of them.
func (k Kinds) Check(known []string) error {
	for _, element := range k {
		if name := strings.TrimPrefix(element, "-"); element != AllKinds && !slices.Contains(known, name) {
			return fmt.Errorf("--kinds: %q is not one of %s or %s; a minus sign before a name leaves the kind out", element,
				strings.Join(known, ", "), AllKinds)
		}
	}
	return nil
}

// KindsUsage describes the flag.
const KindsUsage = "AWS kinds that the operator serves: *, or a list of kinds, such as S3Bucket,IAMRole; -KIND leaves a kind out, such as *,-EC2Instance"
