// SPDX-License-Identifier: Apache-2.0

package ecr

import (
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ecr"
	"github.com/aws/aws-sdk-go-v2/service/ecr/types"

	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
)

// https://docs.aws.amazon.com/AmazonECR/latest/userguide/image-tag-mutability.html
func TestImport_NamesExceptionsFromMutability(t *testing.T) {
	settings, _, _ := kindtest.NotDeclared(t, engine.For(NewRepository), repositoryOf(), nil, func(output any) {
		if d, ok := output.(*ecr.DescribeRepositoriesOutput); ok {
			d.Repositories[0].ImageTagMutability = types.ImageTagMutabilityImmutableWithExclusion
			d.Repositories[0].ImageTagMutabilityExclusionFilters = []types.ImageTagMutabilityExclusionFilter{{Filter: aws.String("latest*"),
				FilterType: types.ImageTagMutabilityExclusionFilterTypeWildcard}}
		}
	})
	if !slices.Equal(settings, []string{"imageTagMutability", "imageTagMutabilityExclusionFilters"}) {
		t.Errorf("not declared: %q", settings)
	}
}
