// SPDX-License-Identifier: Apache-2.0

package ec2

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// NATGatewayState is a NAT gateway as both the spec and EC2 can express it.
type NATGatewayState struct {
	Resource           `drift:"id"`
	State              string `drift:"observed"`
	VPCID              string `drift:"observed"`
	PublicIP           string `drift:"observed"`
	PrivateIP          string `drift:"observed"`
	NetworkInterfaceID string `drift:"observed"`

	SubnetID         *string           `drift:"immutable"`
	AllocationID     *string           `drift:"immutable"`
	ConnectivityType *string           `drift:"immutable"`
	Tags             map[string]string `drift:"tags"`
}

// gatewayInterval sets how often the operator looks whether a NAT gateway can be created, or has released its address.
const gatewayInterval = 10 * time.Second

type natGateway struct {
	api   *ec2.Client
	batch kind.Batch[types.NatGateway]
}

// NewNATGateway binds the NATGateway kind to an identity. Its IAM actions:
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonec2.html
func NewNATGateway(cfg aws.Config) kind.Kind[*v1alpha1.NATGateway, NATGatewayState] {
	n := &natGateway{api: ec2.NewFromConfig(cfg)}
	return kind.FromTable(kind.Table[*v1alpha1.NATGateway, NATGatewayState]{
		Meta: kind.Meta{Facts: natGatewayFacts(), Identity: kind.ByToken, References: []string{"Subnet", "ElasticIP"}},
		Identify: func(sc kind.Scope, _ *v1alpha1.NATGateway) (NATGatewayState, error) {
			return NATGatewayState{Resource: identify(sc, "natgateway")}, nil
		},
		Declare: declareNATGateway,
		Export:  kind.Export[*v1alpha1.NATGateway, NATGatewayState]{Identity: []string{"importID"}, Spec: exportedNATGateway},
		Publish: func(cr *v1alpha1.NATGateway, s NATGatewayState) {
			st := &cr.Status
			st.ID, st.ARN, st.NATGatewayID, st.State, st.SubnetID, st.VPCID = s.ID, s.arn(), s.ID, s.State, aws.ToString(s.SubnetID), s.VPCID
			st.PublicIP, st.PrivateIP, st.NetworkInterfaceID = s.PublicIP, s.PrivateIP, s.NetworkInterfaceID
		},
		Describe: kind.Read[NATGatewayState]{Actions: []string{"ec2:DescribeNatGateways", "ec2:DescribeSubnets", "ec2:DescribeInternetGateways", "ec2:DescribeAddresses"}, Do: n.describe},
		Create:   kind.Call[NATGatewayState]{Action: "ec2:CreateNatGateway", DoForID: n.create},
		Tagging:  tagging(n.api, func(s NATGatewayState) string { return s.ID }),
		// The gateway keeps its address and its network interface until EC2 reports it as deleted.
		Delete: []kind.Ending[NATGatewayState]{{Call: kind.Call[NATGatewayState]{Action: "ec2:DeleteNatGateway", Effect: kind.Deletes,
			Do: kind.Send(n.api.DeleteNatGateway, func(_, have NATGatewayState) *ec2.DeleteNatGatewayInput {
				return &ec2.DeleteNatGatewayInput{NatGatewayId: &have.ID}
			})}}},
	})
}

func declareNATGateway(sc kind.Scope, cr *v1alpha1.NATGateway, want *NATGatewayState) error {
	in := cr.Spec
	subnet, err := referredID(sc, "Subnet", in.SubnetID, in.SubnetRef)
	if err != nil {
		return err
	}
	allocation, err := referredID(sc, "ElasticIP", in.AllocationID, in.AllocationRef)
	want.SubnetID, want.AllocationID = &subnet, kind.NonEmpty(&allocation)
	want.ConnectivityType = aws.String(cmp.Or(in.ConnectivityType, string(types.ConnectivityTypePublic)))
	return err
}

// create sends the token of the attempt: EC2 answers a repeated request with the gateway that it made before.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateNatGateway.html
func (n *natGateway) create(ctx context.Context, want NATGatewayState, token string) (string, error) {
	out, err := n.api.CreateNatGateway(ctx, &ec2.CreateNatGatewayInput{SubnetId: want.SubnetID, AllocationId: want.AllocationID,
		ConnectivityType: types.ConnectivityType(*want.ConnectivityType), ClientToken: &token,
		TagSpecifications: tagSpecification(types.ResourceTypeNatgateway, want.Tags)})
	if awsclient.FoundExisting(err) {
		return "", addressInUse(aws.ToString(want.AllocationID))
	}
	if err != nil || out.NatGateway == nil {
		return "", err
	}
	return aws.ToString(out.NatGateway.NatGatewayId), nil
}

func (n *natGateway) describe(ctx context.Context, want NATGatewayState, look kind.Look) (kind.Seen[NATGatewayState], error) {
	gateways := description[types.NatGateway]{filter: "nat-gateway-id", batch: &n.batch, list: n.list, of: func(d types.NatGateway) (id, account *string, tags []types.Tag) { return d.NatGatewayId, nil, d.Tags }}
	d, duplicates, err := gateways.find(ctx, want.Resource, look.Check)
	switch {
	case err != nil:
		return kind.Seen[NATGatewayState]{}, err
	case d == nil && (look.Deleting || want.Search.Imported):
		return kind.Seen[NATGatewayState]{}, nil
	case d == nil:
		return kind.Seen[NATGatewayState]{}, n.checkCreatable(ctx, want)
	case d.State == types.NatGatewayStateFailed && !look.Deleting:
		return kind.Seen[NATGatewayState]{}, explainFailure(d)
	}
	seen := kind.Seen[NATGatewayState]{Exists: true, Tags: kind.TagMap(d.Tags), Duplicates: duplicates, Created: aws.ToTime(d.CreateTime), State: NATGatewayState{
		Resource: Resource{ARNPrefix: want.ARNPrefix, ID: aws.ToString(d.NatGatewayId)}, State: string(d.State), VPCID: aws.ToString(d.VpcId),
		SubnetID: d.SubnetId, ConnectivityType: kind.Ptr(string(cmp.Or(d.ConnectivityType, types.ConnectivityTypePublic)))}}
	if a := primaryAddress(d); a != nil {
		s := &seen.State
		s.AllocationID, s.PublicIP, s.PrivateIP, s.NetworkInterfaceID = a.AllocationId, aws.ToString(a.PublicIp), aws.ToString(a.PrivateIp), aws.ToString(a.NetworkInterfaceId)
	}
	seen.Busy = busyGateway(d.State, look)
	return seen, nil
}

// busyGateway says that EC2 works on a gateway. One that failed can be deleted.
func busyGateway(state types.NatGatewayState, look kind.Look) string {
	if look.Deleting && state != types.NatGatewayStatePending && state != types.NatGatewayStateDeleting {
		return ""
	}
	return kind.BusyUnless("the NAT gateway", state, types.NatGatewayStateAvailable)
}

// list leaves out deleted gateways, which EC2 describes for about an hour.
// https://docs.aws.amazon.com/vpc/latest/userguide/nat-gateway-troubleshooting.html
func (n *natGateway) list(ctx context.Context, ids []string, filters []types.Filter) ([]types.NatGateway, error) {
	in := &ec2.DescribeNatGatewaysInput{NatGatewayIds: ids, Filter: filters}
	all, err := kind.Pages(ctx, n.api.DescribeNatGateways, in, &in.NextToken, func(out *ec2.DescribeNatGatewaysOutput) ([]types.NatGateway, *string) {
		return out.NatGateways, out.NextToken
	})
	return slices.DeleteFunc(all, func(d types.NatGateway) bool { return d.State == types.NatGatewayStateDeleted }), err
}

// primaryAddress returns the address that the gateway was created with; nil while there is none.
func primaryAddress(d *types.NatGateway) *types.NatGatewayAddress {
	for i := range d.NatGatewayAddresses {
		if aws.ToBool(d.NatGatewayAddresses[i].IsPrimary) || len(d.NatGatewayAddresses) == 1 {
			return &d.NatGatewayAddresses[i]
		}
	}
	return nil
}

// explainFailure reports a gateway that EC2 could not create. EC2 deletes it within about an hour.
// https://docs.aws.amazon.com/vpc/latest/userguide/nat-gateway-troubleshooting.html
func explainFailure(d *types.NatGateway) error {
	id := aws.ToString(d.NatGatewayId)
	return &status.Stalled{Reason: status.ReasonRefusedByAWS, Message: fmt.Sprintf(
		"AWS failed to create NAT gateway %s: %s: %s; remove the cause, and run aws ec2 delete-nat-gateway --nat-gateway-id %s, or wait about an hour until AWS deletes it: the operator then creates another one",
		id, aws.ToString(d.FailureCode), aws.ToString(d.FailureMessage), id)}
}

// checkCreatable waits for the preconditions of a public gateway: an address that nothing uses, and an internet gateway. Without them EC2
// accepts the request, and the gateway fails and is kept for an hour.
// https://docs.aws.amazon.com/vpc/latest/userguide/nat-gateway-troubleshooting.html
func (n *natGateway) checkCreatable(ctx context.Context, want NATGatewayState) error {
	subnet, allocation := aws.ToString(want.SubnetID), aws.ToString(want.AllocationID)
	if !strings.HasPrefix(subnet, "subnet-") || !strings.HasPrefix(allocation, "eipalloc-") { // private, or not known before a plan runs
		return nil
	}
	addresses, err := n.api.DescribeAddresses(ctx, &ec2.DescribeAddressesInput{AllocationIds: []string{allocation}})
	switch {
	case awsclient.IsNotFound(err) || err == nil && len(addresses.Addresses) == 0:
		return &status.Waiting{Reason: status.ReasonWaiting, For: "the address " + allocation + " to exist", After: gatewayInterval}
	case err != nil:
		return err
	case addresses.Addresses[0].AssociationId != nil:
		return addressInUse(allocation)
	}
	return n.checkInternetGateway(ctx, subnet)
}

// checkInternetGateway waits for an internet gateway of the VPC of a subnet.
func (n *natGateway) checkInternetGateway(ctx context.Context, subnet string) error {
	subnets, err := n.api.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{SubnetIds: []string{subnet}})
	if awsclient.IsNotFound(err) || err == nil && len(subnets.Subnets) == 0 {
		return &status.Waiting{Reason: status.ReasonWaiting, For: "the subnet " + subnet + " to exist", After: gatewayInterval}
	}
	if err != nil {
		return err
	}
	vpc := aws.ToString(subnets.Subnets[0].VpcId)
	out, err := n.api.DescribeInternetGateways(ctx, &ec2.DescribeInternetGatewaysInput{Filters: []types.Filter{{Name: aws.String("attachment.vpc-id"), Values: []string{vpc}}}})
	if err == nil && len(out.InternetGateways) == 0 {
		return &status.Waiting{Reason: status.ReasonWaiting, After: gatewayInterval,
			For: "an internet gateway to be attached to VPC " + vpc + ", which a public NAT gateway needs; attach one, or create an object with connectivityType: private"}
	}
	return err
}

func addressInUse(allocation string) error {
	return &status.Waiting{Reason: status.ReasonInUse, For: "the address " + allocation + " to be free: another resource uses it; disassociate it there, or use another address", After: gatewayInterval}
}
