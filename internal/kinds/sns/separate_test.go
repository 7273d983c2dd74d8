// SPDX-License-Identifier: Apache-2.0

package sns_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sns"

	kindsns "github.com/nexus-operator/nexus-operator/internal/kinds/sns"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
)

func TestTopic_ImportsReadWhatNoPartReads(t *testing.T) {
	kindtest.ReadsSeparately(t, kindsns.NewTopic, kindsns.TopicState{Name: "t", ARN: "arn"}, []kindtest.Separate{
		{Setting: "dataProtectionPolicy", Operation: "SNS GetDataProtectionPolicy",
			Output: &sns.GetDataProtectionPolicyOutput{DataProtectionPolicy: aws.String("{}")}},
	})
}
