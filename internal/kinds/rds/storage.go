// SPDX-License-Identifier: Apache-2.0

package rds

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/rds"

	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// storageFields are the settings of the storage, which RDS changes together. Read only.
var storageFields = []string{"AllocatedStorage", "Iops", "StorageType"}

const (
	gp3       = "gp3"
	sqlServer = "sqlserver"
)

// changeStorage completes a request about storage. RDS takes I/O operations only together with a size, and no size below the present
// one, which storage autoscaling may have raised.
func changeStorage(in *rds.ModifyDBInstanceInput, want, have InstanceState) {
	if in.Iops = provisionedIOPS(want, have); in.Iops != nil {
		in.AllocatedStorage = aws.Int32(sizeOf(want, have))
	}
}

// sizeOf returns the size of the storage after a change, in GiB.
func sizeOf(want, have InstanceState) int32 {
	return max(aws.ToInt32(want.AllocatedStorage), have.Storage)
}

// provisionedIOPS returns the I/O operations per second that a request about storage must name: the declared ones, or otherwise the present
// ones; nil where the storage takes none.
// https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/CHAP_Storage.html#gp3-storage
func provisionedIOPS(want, have InstanceState) *int32 {
	size, declaredOrPresent := sizeOf(want, have), cmp.Or(want.Iops, have.Iops)
	switch storage := aws.ToString(cmp.Or(want.StorageType, have.StorageType)); {
	case strings.HasPrefix(storage, "io"):
		return declaredOrPresent
	case storage != gp3 || isSmall(want, size):
		return nil
	case want.Iops != nil:
		return want.Iops
	default: // the value of another type of storage may be less than the minimum of gp3
		return aws.Int32(max(aws.ToInt32(have.Iops), baselineIOPS(want, size)))
	}
}

// isSmall reports whether gp3 storage of a size has a fixed number of I/O operations.
func isSmall(want InstanceState, size int32) bool {
	switch engine := aws.ToString(want.Engine); {
	case strings.HasPrefix(engine, sqlServer):
		return false
	case strings.HasPrefix(engine, "oracle"):
		return size < 200
	default:
		return size < 400
	}
}

// baselineIOPS are the I/O operations per second that gp3 storage of a size has without a declaration.
func baselineIOPS(want InstanceState, size int32) int32 {
	if isSmall(want, size) || strings.HasPrefix(aws.ToString(want.Engine), sqlServer) {
		return 3000
	}
	return 12000
}

// refuseStorage names the changes of storage that RDS refuses or makes otherwise.
func refuseStorage(want, have InstanceState, diff kind.Diff) error {
	switch {
	case diff.Under("AllocatedStorage") && aws.ToInt32(want.AllocatedStorage) < aws.ToInt32(have.AllocatedStorage):
		return &status.Stalled{Reason: status.ReasonImmutable, Field: "spec.allocatedStorage", Message: fmt.Sprintf(
			"RDS cannot reduce the storage of an instance: want %d GiB, have %d GiB; declare what exists, or create another instance", *want.AllocatedStorage, *have.AllocatedStorage)}
	case diff.Under("AllocatedStorage"):
		return refuseSmallRaise("spec.allocatedStorage", want, *want.AllocatedStorage, have.Storage)
	case diff.Under("Iops") && provisionedIOPS(want, have) == nil:
		return status.Invalid("spec.iops", "storage of type %s and %d GiB takes no other iops than the %d that it has: remove iops, or raise allocatedStorage",
			aws.ToString(cmp.Or(want.StorageType, have.StorageType)), sizeOf(want, have), aws.ToInt32(have.Iops))
	case diff.Under("Iops"):
		return refuseSmallRaise("spec.iops", want, *want.Iops, aws.ToInt32(have.Iops))
	default:
		return nil
	}
}

// refuseSmallRaise refuses a raise by less than 10 %, which RDS rounds up, so that the instance would never be as declared.
// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_ModifyDBInstance.html
func refuseSmallRaise(field string, want InstanceState, to, from int32) error {
	if least := (int64(from)*11 + 9) / 10; from < to && int64(to) < least && !strings.HasPrefix(aws.ToString(want.Engine), sqlServer) {
		return status.Invalid(field, "RDS rounds raises of less than 10 percent up: declare at least %d, or the %d that exist", least, from)
	}
	return nil
}

// postponeStorage makes the storage as wanted where it differs, and reports whether it did: RDS refuses a change of the storage while
// it optimizes the storage after the one before, for hours, and with it all other changes of the same request.
func postponeStorage(want InstanceState, have *InstanceState) (postponed bool) {
	wanted, found := reflect.ValueOf(want), reflect.ValueOf(have).Elem()
	for _, name := range storageFields {
		if w, h := wanted.FieldByName(name), found.FieldByName(name); !w.IsNil() && !reflect.DeepEqual(w.Interface(), h.Interface()) {
			h.Set(w)
			postponed = true
		}
	}
	return postponed
}
