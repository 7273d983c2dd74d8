// SPDX-License-Identifier: Apache-2.0

package s3_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	kinds3 "github.com/nexus-operator/nexus-operator/internal/kinds/s3"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
)

func TestBucket_ImportsReadWhatNoPartReads(t *testing.T) {
	kindtest.ReadsSeparately(t, kinds3.NewBucket, kinds3.BucketState{Name: "b", Account: "123456789012"}, []kindtest.Separate{
		{Setting: "abacStatus", Operation: "S3 GetBucketAbac",
			Output: &s3.GetBucketAbacOutput{AbacStatus: &types.AbacStatus{Status: types.BucketAbacStatusEnabled}}},
		{Setting: "accelerateConfiguration", Operation: "S3 GetBucketAccelerateConfiguration",
			Output: &s3.GetBucketAccelerateConfigurationOutput{Status: types.BucketAccelerateStatusEnabled}},
		{Setting: "analyticsConfigurations", Operation: "S3 ListBucketAnalyticsConfigurations",
			Output: &s3.ListBucketAnalyticsConfigurationsOutput{AnalyticsConfigurationList: make([]types.AnalyticsConfiguration, 1)}},
		{Setting: "intelligentTieringConfigurations", Operation: "S3 ListBucketIntelligentTieringConfigurations",
			Output: &s3.ListBucketIntelligentTieringConfigurationsOutput{IntelligentTieringConfigurationList: make([]types.IntelligentTieringConfiguration, 1)}},
		{Setting: "inventoryConfigurations", Operation: "S3 ListBucketInventoryConfigurations",
			Output: &s3.ListBucketInventoryConfigurationsOutput{InventoryConfigurationList: make([]types.InventoryConfiguration, 1)}},
		{Setting: "metadataConfiguration", Operation: "S3 GetBucketMetadataConfiguration",
			Output: &s3.GetBucketMetadataConfigurationOutput{GetBucketMetadataConfigurationResult: &types.GetBucketMetadataConfigurationResult{}}},
		{Setting: "metricsConfigurations", Operation: "S3 ListBucketMetricsConfigurations",
			Output: &s3.ListBucketMetricsConfigurationsOutput{MetricsConfigurationList: make([]types.MetricsConfiguration, 1)}},
		{Setting: "requestPayment", Operation: "S3 GetBucketRequestPayment",
			Output: &s3.GetBucketRequestPaymentOutput{Payer: types.PayerRequester}},
	})
}
