// SPDX-License-Identifier: Apache-2.0

package rds

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/rds/types"
)

// Storage that has grown to its limit stays as declared, also where RDS shows no limit because it can grow no more.
func TestStorage_ThatReachedItsLimitIsNoDrift(t *testing.T) {
	want := InstanceState{AllocatedStorage: aws.Int32(20), MaxAllocatedStorage: aws.Int32(100)}
	for name, row := range map[string]struct {
		shown      types.DBInstance
		size, most int32
	}{
		"below the limit":             {types.DBInstance{AllocatedStorage: aws.Int32(50), MaxAllocatedStorage: aws.Int32(100)}, 20, 100},
		"at the limit":                {types.DBInstance{AllocatedStorage: aws.Int32(100)}, 20, 100},
		"without storage autoscaling": {types.DBInstance{AllocatedStorage: aws.Int32(50)}, 50, 0},
	} {
		have := seenInstance(want, row.shown)
		if aws.ToInt32(have.AllocatedStorage) != row.size || aws.ToInt32(have.MaxAllocatedStorage) != row.most ||
			have.Storage != *row.shown.AllocatedStorage {
			t.Errorf("%s: %d of at most %d", name, aws.ToInt32(have.AllocatedStorage), aws.ToInt32(have.MaxAllocatedStorage))
		}
	}
}
