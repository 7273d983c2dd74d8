// SPDX-License-Identifier: Apache-2.0

package ec2

import (
	"cmp"
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// ElasticIPState is a public address as both the spec and EC2 can express it.
type ElasticIPState struct {
	Resource           `drift:"id"`
	PublicIP           string `drift:"observed"`
	Domain             string `drift:"observed"`
	AssociationID      string `drift:"observed"`
	InstanceID         string `drift:"observed"`
	NetworkInterfaceID string `drift:"observed"`
	PrivateIPAddress   string `drift:"observed"`

	Tags map[string]string `drift:"tags"`
}

type elasticIP struct {
	api   *ec2.Client
	batch kind.Batch[types.Address]
}

// NewElasticIP binds the ElasticIP kind to an identity. Its IAM actions:
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonec2.html
func NewElasticIP(cfg aws.Config) kind.Kind[*v1alpha1.ElasticIP, ElasticIPState] {
	e := &elasticIP{api: ec2.NewFromConfig(cfg)}
	return kind.FromTable(kind.Table[*v1alpha1.ElasticIP, ElasticIPState]{
		Meta: kind.Meta{Facts: elasticIPFacts(), Identity: kind.ByTag},
		Identify: func(sc kind.Scope, _ *v1alpha1.ElasticIP) (ElasticIPState, error) {
			return ElasticIPState{Resource: identify(sc, "elastic-ip")}, nil
		},
		Export: kind.Export[*v1alpha1.ElasticIP, ElasticIPState]{Identity: []string{"importID"}, Spec: exportedElasticIP},
		Publish: func(cr *v1alpha1.ElasticIP, s ElasticIPState) {
			st := &cr.Status
			st.ID, st.ARN, st.AllocationID, st.PublicIP, st.Domain = s.ID, s.arn(), s.ID, s.PublicIP, s.Domain
			st.AssociationID, st.InstanceID, st.NetworkInterfaceID, st.PrivateIPAddress = s.AssociationID, s.InstanceID, s.NetworkInterfaceID, s.PrivateIPAddress
		},
		Describe:   kind.Read[ElasticIPState]{Actions: []string{"ec2:DescribeAddresses"}, Do: e.describe},
		Create:     kind.Call[ElasticIPState]{Action: "ec2:AllocateAddress", DoForID: e.allocate},
		Tagging:    tagging(e.api, func(s ElasticIPState) string { return s.ID }),
		Holds:      e.hold,
		HoldsReads: []string{"ec2:DescribeNetworkInterfaces"},
		// The verifying look after the deletion is kept for the reason that NewVPC gives.
		Delete: []kind.Ending[ElasticIPState]{{Call: kind.Call[ElasticIPState]{Action: "ec2:ReleaseAddress", Effect: kind.Deletes,
			Do: kind.Send(e.api.ReleaseAddress, func(_, have ElasticIPState) *ec2.ReleaseAddressInput {
				return &ec2.ReleaseAddressInput{AllocationId: &have.ID}
			})}}},
	})
}

func (e *elasticIP) allocate(ctx context.Context, want ElasticIPState, _ string) (string, error) {
	out, err := e.api.AllocateAddress(ctx, &ec2.AllocateAddressInput{Domain: types.DomainTypeVpc, TagSpecifications: tagSpecification(types.ResourceTypeElasticIp, want.Tags)})
	if err != nil {
		return "", err
	}
	return aws.ToString(out.AllocationId), nil
}

func (e *elasticIP) describe(ctx context.Context, want ElasticIPState, look kind.Look) (kind.Seen[ElasticIPState], error) {
	addresses := description[types.Address]{filter: "allocation-id", batch: &e.batch, list: e.list, of: func(d types.Address) (id, account *string, tags []types.Tag) { return d.AllocationId, nil, d.Tags }}
	d, duplicates, err := addresses.find(ctx, want.Resource, look.Check)
	if err != nil || d == nil {
		return kind.Seen[ElasticIPState]{}, err
	}
	return kind.Seen[ElasticIPState]{Exists: true, Tags: kind.TagMap(d.Tags), Duplicates: duplicates, State: ElasticIPState{
		Resource: Resource{ARNPrefix: want.ARNPrefix, ID: aws.ToString(d.AllocationId)}, PublicIP: aws.ToString(d.PublicIp), Domain: string(d.Domain),
		AssociationID: aws.ToString(d.AssociationId), InstanceID: aws.ToString(d.InstanceId), NetworkInterfaceID: aws.ToString(d.NetworkInterfaceId),
		PrivateIPAddress: aws.ToString(d.PrivateIpAddress),
	}}, nil
}

// list returns all addresses at once: DescribeAddresses has no pages.
func (e *elasticIP) list(ctx context.Context, ids []string, filters []types.Filter) ([]types.Address, error) {
	out, err := e.api.DescribeAddresses(ctx, &ec2.DescribeAddressesInput{AllocationIds: ids, Filters: filters})
	if err != nil {
		return nil, err
	}
	return out.Addresses, nil
}

// hold keeps an address that is in use, which EC2 would not release.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_ReleaseAddress.html
func (e *elasticIP) hold(ctx context.Context, _ ElasticIPState, seen *kind.Seen[ElasticIPState]) error {
	s := seen.State
	if s.AssociationID == "" {
		return nil
	}
	user, err := e.user(ctx, s)
	seen.Holds = []kind.Hold{{Reason: status.ReasonInUse, After: gatewayInterval, Message: fmt.Sprintf(
		"%s to stop using the address %s: delete it, or disassociate the address; or set deletionPolicy: Retain to keep the address", user, s.PublicIP)}}
	return err
}

// user names the resource that uses the address. EC2 describes the network interfaces that belong to other resources, such as "Interface
// for NAT Gateway nat-0123456789abcdef0".
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/requester-managed-eni.html
func (e *elasticIP) user(ctx context.Context, s ElasticIPState) (string, error) {
	if s.InstanceID != "" {
		return "instance " + s.InstanceID, nil
	}
	out, err := e.api.DescribeNetworkInterfaces(ctx, &ec2.DescribeNetworkInterfacesInput{NetworkInterfaceIds: []string{s.NetworkInterfaceID}})
	if err != nil && !awsclient.IsNotFound(err) {
		return "", err
	}
	description := ""
	if err == nil && len(out.NetworkInterfaces) > 0 {
		description = aws.ToString(out.NetworkInterfaces[0].Description)
	}
	return fmt.Sprintf("network interface %s (%s)", s.NetworkInterfaceID, cmp.Or(description, "private address "+s.PrivateIPAddress)), nil
}
