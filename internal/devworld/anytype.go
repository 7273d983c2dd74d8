// SPDX-License-Identifier: Apache-2.0

package devworld

import (
	"time"

	"github.com/nexus-operator/nexus-operator/internal/testkit/awstypes"
	"github.com/nexus-operator/nexus-operator/internal/testkit/cloudcontrol"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

// demoTypes are the resource types without a kind that the operator of a local world may manage.
var demoTypes = []string{
	"AWS::Athena::*", "AWS::Bedrock::*", "AWS::BedrockAgentCore::*", "AWS::Budgets::*", "AWS::CloudWatch::*", "AWS::DSQL::*",
	"AWS::EC2::PrefixList", "AWS::Events::*",
	"AWS::Kinesis::*", "AWS::Logs::*", "AWS::OpenSearchServerless::*", "AWS::S3Vectors::*", "AWS::Scheduler::*",
}

// requestsTake delays the end of each request in a local world, so that the request shows in the status.
const requestsTake = time.Second

// addCloudControl adds Cloud Control API with all types to the AWS of a world, which the emulator does not have. The schemas are those that
// nexusctl has.
func addCloudControl(w *world.World) error {
	types, err := awstypes.Bundled()
	if err != nil {
		return err
	}
	double := cloudcontrol.Live(w.AWS().Account(), types)
	double.SetDuration(requestsTake)
	w.AWS().Divert("cloudformation", double)
	w.AWS().Tag.ListTagged(double.Tagging())
	return nil
}
