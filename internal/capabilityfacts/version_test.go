// SPDX-License-Identifier: Apache-2.0

package capabilityfacts

import (
	"testing"

	"k8s.io/apimachinery/pkg/version"
)

func TestLacksDrain_BeforeKubernetes130(t *testing.T) {
	for minor, want := range map[string]bool{"29": true, "29+": true, "30": false, "30+": false, "37": false, "": false} {
		if got := LacksDrain(version.Info{Major: "1", Minor: minor}); got != want {
			t.Errorf("1.%s: %t", minor, got)
		}
	}
	if LacksDrain(version.Info{Major: "2", Minor: "1"}) {
		t.Error("2.1 counts as old")
	}
}
