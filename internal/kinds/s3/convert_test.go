// SPDX-License-Identifier: Apache-2.0

package s3

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
)

func TestEncryptionKeepsBlockedEncryptionTypes(t *testing.T) {
	blocked := &types.BlockedEncryptionTypes{EncryptionType: []types.EncryptionType{types.EncryptionTypeSseC}}
	found := &types.ServerSideEncryptionConfiguration{Rules: []types.ServerSideEncryptionRule{{BlockedEncryptionTypes: blocked,
		BucketKeyEnabled: aws.Bool(true),
		ApplyServerSideEncryptionByDefault: &types.ServerSideEncryptionByDefault{SSEAlgorithm: types.ServerSideEncryptionAwsKms,
			KMSMasterKeyID: aws.String("k")}}}}
	got := toEncryption(v1alpha1.S3Encryption{Algorithm: "AES256"}, found).Rules[0]
	if got.BlockedEncryptionTypes != blocked || !aws.ToBool(got.BucketKeyEnabled) ||
		got.ApplyServerSideEncryptionByDefault.KMSMasterKeyID != nil {
		t.Errorf("got %+v", got)
	}
	if got := toEncryption(v1alpha1.S3Encryption{Algorithm: "aws:kms", BucketKeyEnabled: aws.Bool(false)},
		found).Rules[0]; *got.BucketKeyEnabled {
		t.Error("a declared bucket key is not written")
	}
	if *found.Rules[0].ApplyServerSideEncryptionByDefault.KMSMasterKeyID != "k" {
		t.Error("the answer was changed")
	}
}

func TestLoggingKeepsTheFormatOfTheNamesOfLogs(t *testing.T) {
	found := &types.LoggingEnabled{TargetBucket: aws.String("a"), TargetObjectKeyFormat: keyFormat()}
	got := toLogging(Logging{TargetBucket: "b"}, found).LoggingEnabled
	if *got.TargetBucket != "b" || got.TargetPrefix == nil || got.TargetObjectKeyFormat == nil || *found.TargetBucket != "a" {
		t.Errorf("got %+v of %+v", got, found)
	}
	if off := toLogging(Logging{}, found); off.LoggingEnabled != nil {
		t.Errorf("got %+v, want none", off.LoggingEnabled)
	}
}

func TestLock_KeepsWhatTheSpecCannotDeclare(t *testing.T) {
	held := &types.EventHoldDuration{}
	found := &types.ObjectLockConfiguration{Rule: &types.ObjectLockRule{DefaultRetention: &types.DefaultRetention{Mode: types.ObjectLockRetentionModeCompliance, Years: aws.Int32(1), DefaultEventHold: held}}}
	got := toLock(&v1alpha1.S3DefaultRetention{Mode: "GOVERNANCE", Days: 5}, found).Rule.DefaultRetention
	if got.DefaultEventHold != held || *got.Days != 5 || got.Years != nil || *found.Rule.DefaultRetention.Years != 1 {
		t.Errorf("got %+v of %+v", got, found.Rule.DefaultRetention)
	}
	if off := toLock(&v1alpha1.S3DefaultRetention{}, found); off.Rule == nil || off.Rule.DefaultRetention.DefaultEventHold != held {
		t.Errorf("without retention: %+v", off.Rule)
	}
}
