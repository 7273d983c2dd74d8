// SPDX-License-Identifier: Apache-2.0

package route53

import (
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// awsServices: docs.aws.amazon.com/Route53/latest/APIReference,
// docs.aws.amazon.com/elasticloadbalancing/latest/APIReference
var awsServices = []kind.ServiceFacts{
	{
		Service: "route53",
		Rows: []kind.ErrorRow{
			{Code: "NoSuchHostedZone|NoSuchHealthCheck|VPCAssociationNotFound", Class: awsclient.NotFound},
			{Code: "HostedZoneAlreadyExists", Class: awsclient.Exists},
			{Code: "InvalidPaginationToken", Class: awsclient.Transient},
			{Code: "HostedZoneNotEmpty", Class: awsclient.NotEmpty},
			{Code: "TooManyHostedZones|LimitsExceeded", Class: awsclient.Limit},
			// Route 53 does not see a VPC that was made a moment ago.
			{Code: "InvalidVPCId", Class: awsclient.Propagating, Within: awsclient.OfResources},
			{Code: "NoSuchDelegationSet|DelegationSetNotReusable", Class: awsclient.Invalid},
			{Code: "ConflictingDomainExists|InvalidDomainName|LastVPCAssociation|PublicZoneVPCAssociation", Class: awsclient.Invalid},
			// One message for each change that Route 53 cannot make; it makes none of the batch.
			{Code: "InvalidChangeBatch", Message: "already exists", Class: awsclient.Exists},
			{Code: "InvalidChangeBatch", Message: "but it was not found", Class: awsclient.NotFound},
			// "Tried to create an alias that targets a.example.com., type A in zone Z1, but that target was not found"
			{Code: "InvalidChangeBatch", Message: "target was not found", Class: awsclient.Missing},
			{Code: "InvalidChangeBatch", Message: "target name was not found", Class: awsclient.Missing},
			{Code: "InvalidChangeBatch", Message: "do not match the current values", Class: awsclient.Conflict},
			{Code: "InvalidChangeBatch", Class: awsclient.Invalid},
			{Code: "NoSuchChange", Class: awsclient.NotFound},
			// Route 53 has no name servers left for another zone of the name.
			{Code: "DelegationSetNotAvailable", Class: awsclient.Limit},
		},
		Answers: []kind.ErrorAnswer{
			{Operation: "GetHostedZone", Code: "NoSuchHostedZone", Status: 404, Class: awsclient.NotFound},
			{Operation: "ListQueryLoggingConfigs", Code: "InvalidPaginationToken", Status: 400, Class: awsclient.Transient},
			{Operation: "CreateHostedZone", Code: "HostedZoneAlreadyExists", Status: 409, Class: awsclient.Exists},
			{Operation: "DeleteHostedZone", Code: "HostedZoneNotEmpty", Status: 400, Class: awsclient.NotEmpty},
			{Operation: "CreateHostedZone", Code: "TooManyHostedZones", Status: 400, Class: awsclient.Limit},
			{Operation: "AssociateVPCWithHostedZone", Code: "LimitsExceeded", Status: 400, Class: awsclient.Limit},
			{Operation: "AssociateVPCWithHostedZone", Code: "ConflictingDomainExists", Status: 400, Class: awsclient.Invalid},
			{Operation: "DisassociateVPCFromHostedZone", Code: "VPCAssociationNotFound", Status: 404, Class: awsclient.NotFound},
			{Operation: "DisassociateVPCFromHostedZone", Code: "LastVPCAssociation", Status: 400, Class: awsclient.Invalid},
			{Operation: "CreateHostedZone", Code: "InvalidDomainName", Status: 400, Class: awsclient.Invalid},
			{Operation: "CreateHostedZone", Code: "DelegationSetNotAvailable", Status: 400, Class: awsclient.Limit},
			{Operation: "ChangeResourceRecordSets", Code: "InvalidChangeBatch",
				Message: "[Tried to create resource record set [name='www.example.com.', type='A'] but it already exists]", Status: 400,
				Class: awsclient.Exists},
			{Operation: "ChangeResourceRecordSets", Code: "InvalidChangeBatch",
				Message: "[Tried to delete resource record set [name='www.example.com.', type='A'] but it was not found]", Status: 400,
				Class: awsclient.NotFound},
			{Operation: "ChangeResourceRecordSets", Code: "InvalidChangeBatch",
				Message: "[Tried to delete resource record set [name='www.example.com.', type='A'] but the values provided do not match the current values]",
				Status:  400, Class: awsclient.Conflict},
			{Operation: "ChangeResourceRecordSets", Code: "InvalidChangeBatch",
				Message: "[Invalid Resource Record: FATAL problem: InvalidCharacterString]", Status: 400, Class: awsclient.Invalid},
			{Operation: "GetChange", Code: "NoSuchChange", Status: 404, Class: awsclient.NotFound},
			{Operation: "ChangeResourceRecordSets", Code: "PriorRequestNotComplete", Status: 400, Class: awsclient.Throttled},
			{Operation: "CreateHostedZone", Code: "NoSuchDelegationSet", Status: 400, Class: awsclient.Invalid},
			{Operation: "CreateHostedZone", Code: "InvalidVPCId", Message: "The VPC: vpc-0a in region eu-west-1 does not exist",
				Status: 400, Class: awsclient.Propagating},
			{Operation: "AssociateVPCWithHostedZone", Code: "InvalidVPCId", Status: 400, Class: awsclient.Propagating},
			{Operation: "ChangeResourceRecordSets", Code: "InvalidChangeBatch",
				Message: "[Tried to create an alias that targets a.example.com., type A in zone Z1, but that target was not found]",
				Status:  400, Class: awsclient.Missing},
			{Operation: "ChangeResourceRecordSets", Code: "InvalidChangeBatch",
				Message: "[Tried to create an alias that targets a.example.com., type A in zone Z1, but the alias target name was not found]",
				Status:  400, Class: awsclient.Missing},
		},
	},
	{
		Service: "elasticloadbalancingv2",
		IAM:     "elasticloadbalancing",
		Rows: []kind.ErrorRow{
			{Code: "LoadBalancerNotFound|TargetGroupNotFound|ListenerNotFound|RuleNotFound", Class: awsclient.NotFound},
			{Code: "DuplicateLoadBalancerName|DuplicateTargetGroupName|DuplicateListener", Class: awsclient.Exists},
			{Code: "ResourceInUse", Class: awsclient.Busy},
			{Code: "TooManyLoadBalancers|TooManyTargetGroups|TooManyListeners", Class: awsclient.Limit},
		},
		Answers: []kind.ErrorAnswer{
			{Operation: "DescribeLoadBalancers", Code: "LoadBalancerNotFound", Status: 400, Class: awsclient.NotFound},
			{Operation: "CreateLoadBalancer", Code: "DuplicateLoadBalancerName", Status: 400, Class: awsclient.Exists},
			{Operation: "DeleteTargetGroup", Code: "ResourceInUse", Status: 400, Class: awsclient.Busy},
			{Operation: "CreateLoadBalancer", Code: "TooManyLoadBalancers", Status: 400, Class: awsclient.Limit},
			{Operation: "DeleteLoadBalancer", Code: "OperationNotPermitted",
				Message: "Load balancer cannot be deleted because deletion protection is enabled", Status: 400,
				Class: awsclient.Protected},
		},
	},
}
