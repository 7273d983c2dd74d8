// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

func TestRecordKept_MakesRoomForWhatStays(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	secret := func(i int) Kept {
		return Kept{Kind: "SecretsManagerSecret", Namespace: "shop", Name: fmt.Sprint("s", i), What: "secret",
			Until: now.Add(time.Duration(i+1) * time.Hour)}
	}
	var annotations map[string]string
	for i := range mostKept {
		annotations = RecordKept(annotations, secret(i), true, now)
	}
	bucket := Kept{Kind: "S3Bucket", Namespace: "shop", Name: "media"}
	annotations = RecordKept(annotations, bucket, true, now)
	has := func(k Kept) bool { key, _ := k.Annotation(); return annotations[key] != "" }
	if !has(bucket) || has(secret(0)) || !has(secret(1)) || !has(secret(mostKept-1)) || len(annotations) != mostKept {
		t.Errorf("%d records, of the bucket %t, of the secret that ends first %t", len(annotations), has(bucket), has(secret(0)))
	}
	annotations = RecordKept(annotations, bucket, true, now.Add(400*time.Hour))
	if got := len(annotations); got != mostKept-398 || !has(bucket) {
		t.Errorf("%d records are left of what can be restored, and of the bucket %t", got, has(bucket))
	}
}

func TestRecordKept_HoldsWithAsManyRecordsAsThereMayBe(t *testing.T) {
	annotations := map[string]string{}
	for i := range mostKept + 1 {
		annotations = RecordKept(annotations, Kept{Kind: "S3Bucket", Namespace: "shop", Name: fmt.Sprint("b", i)}, true, time.Time{})
	}
	if len(annotations) != mostKept {
		t.Errorf("%d records", len(annotations))
	}
}

// An earlier object retained a table, a later one of the name took it over, and is deleted with it: only its backup stays.
func TestRecordKept_ARetainedTableThatIsDeletedNeedsNothing(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	retained := Kept{Kind: "DynamoDBTable", Namespace: "shop", Name: "orders"}
	backup := retained
	backup.What, backup.Until = "backup of table orders", now.AddDate(0, 0, 35)
	other := Kept{Kind: "DynamoDBTable", Namespace: "shop", Name: "carts"}
	annotations := RecordKept(RecordKept(nil, other, true, now), retained, true, now)
	left := KeptOf(RecordKept(annotations, backup, true, now))
	if len(left) != 2 || !slices.Contains(left, other) || !slices.Contains(left, backup) {
		t.Errorf("left %+v", left)
	}
}
