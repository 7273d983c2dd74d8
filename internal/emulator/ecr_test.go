// SPDX-License-Identifier: Apache-2.0

package emulator_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ecr"
	"github.com/aws/aws-sdk-go-v2/service/ecr/types"

	"github.com/nexus-operator/nexus-operator/internal/testkit/must"
)

func TestECR_EndsScansThatARequestLeavesOut(t *testing.T) {
	p := proxy(t)
	c, ctx, name := ecr.NewFromConfig(config(p.URL())), t.Context(), aws.String("team/shop")
	_, err := c.CreateRepository(ctx,
		&ecr.CreateRepositoryInput{RepositoryName: name, ImageScanningConfiguration: &types.ImageScanningConfiguration{ScanOnPush: true}})
	must.Succeed(t, err)
	for _, want := range []bool{false, true, false} {
		changed, err := c.PutImageScanningConfiguration(ctx, &ecr.PutImageScanningConfigurationInput{RepositoryName: name,
			ImageScanningConfiguration: &types.ImageScanningConfiguration{ScanOnPush: want}})
		must.Succeed(t, err)
		out, err := c.DescribeRepositories(ctx, &ecr.DescribeRepositoriesInput{RepositoryNames: []string{*name}})
		must.Succeed(t, err)
		if got := out.Repositories[0].ImageScanningConfiguration.ScanOnPush; got != want ||
			changed.ImageScanningConfiguration.ScanOnPush != want {
			t.Errorf("scans %v, answered %v, want %v", got, changed.ImageScanningConfiguration.ScanOnPush, want)
		}
	}
}
