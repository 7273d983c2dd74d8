// SPDX-License-Identifier: Apache-2.0

package awsclient

import (
	"slices"
	"testing"
)

func TestRegions_HoldsEachPartitionAndNoAlias(t *testing.T) {
	all := Regions()
	for _, r := range []string{"us-east-1", "eu-west-1", "ap-southeast-1", "cn-north-1", "us-gov-west-1"} {
		if !slices.Contains(all, r) {
			t.Errorf("%s is missing", r)
		}
	}
	for _, r := range []string{"EU", "", "xx-nowhere-9"} {
		if slices.Contains(all, r) {
			t.Errorf("%q is no region", r)
		}
	}
}
