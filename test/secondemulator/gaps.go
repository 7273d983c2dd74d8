// SPDX-License-Identifier: Apache-2.0

package main

// gaps are the results in which the pinned version of the emulator differs from AWS, by object and phase, with what was seen.
var gaps = map[string]string{
	"EC2KeyPair/login ready":                  "DescribeKeyPairs shows neither the tags nor the public key that ImportKeyPair was sent",
	"EC2KeyPair/login delete":                 "DescribeKeyPairs shows no tags, and the operator deletes nothing of an unknown owner",
	"EC2Instance/web ready":                   "ModifyInstanceMetadataOptions answers InvalidAction, and RunInstances does not keep MetadataOptions",
	"GlueCrawler/visits at rest":              "CreateCrawler does not keep Tags, which the operator then writes",
	"EKSCluster/platform edit":                "ListUpdates answers `No route for GET`",
	"EKSCluster/platform delete":              "ListFargateProfiles answers `No route for GET`, and the operator deletes no cluster whose users it cannot see",
	"IAMRole/platform delete":                 "the EKSCluster that names it stays",
	"KMSKey/orders delete":                    "the EKSCluster that names it stays",
	"AWSProvider/default delete":              "the EKSCluster and the EC2KeyPair that need it stay",
	"PodIdentityAssociation/orders edit":      "TagResource answers `Invalid resourceArn` to the ARN of an association",
	"NexusAICapability/nexus-ai-prod at rest": "CreateCrawler does not keep Tags, which the operator then writes",
}
