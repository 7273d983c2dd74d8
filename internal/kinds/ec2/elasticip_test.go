// SPDX-License-Identifier: Apache-2.0

package ec2

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

type addressSpec = v1alpha1.ElasticIPSpec

func addressOf(edits ...func(s *addressSpec)) *v1alpha1.ElasticIP {
	o := &v1alpha1.ElasticIP{}
	o.Name = "exit"
	for _, edit := range edits {
		edit(&o.Spec)
	}
	return o
}

func addressTag(k, v string) func(s *addressSpec) {
	return func(s *addressSpec) { withTag(&s.CommonSpec, k, v) }
}

func addresses(t *testing.T, r *kindtest.Rig) []types.Address {
	t.Helper()
	out, err := api(r).DescribeAddresses(t.Context(), &ec2.DescribeAddressesInput{})
	kindtest.Must(t, err)
	return out.Addresses
}

func makeAddress(t *testing.T, r *kindtest.Rig, tags map[string]string) string {
	t.Helper()
	out, err := api(r).AllocateAddress(t.Context(),
		&ec2.AllocateAddressInput{Domain: types.DomainTypeVpc, TagSpecifications: tagSpecification(types.ResourceTypeElasticIp, tags)})
	kindtest.Must(t, err)
	return *out.AllocationId
}

func onAddress(f func(ctx context.Context, c *ec2.Client, a types.Address) error) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		kindtest.Must(t, f(t.Context(), api(r), addresses(t, r)[0]))
	}
}

func releaseAddress(ctx context.Context, c *ec2.Client, a types.Address) error {
	_, err := c.ReleaseAddress(ctx, &ec2.ReleaseAddressInput{AllocationId: a.AllocationId})
	return err
}

// useAddress associates the only address with a network interface of a description, and returns both identifiers.
func useAddress(t *testing.T, r *kindtest.Rig, description *string) (association, nic string) {
	t.Helper()
	subnet := makeSubnet(t, r, block, nil)
	made, err := api(r).CreateNetworkInterface(t.Context(), &ec2.CreateNetworkInterfaceInput{SubnetId: &subnet, Description: description})
	kindtest.Must(t, err)
	nic = *made.NetworkInterface.NetworkInterfaceId
	used, err := api(r).AssociateAddress(t.Context(),
		&ec2.AssociateAddressInput{AllocationId: addresses(t, r)[0].AllocationId, NetworkInterfaceId: &nic})
	kindtest.Must(t, err)
	return *used.AssociationId, nic
}

const (
	allocate = "ec2:AllocateAddress"
	release  = "ec2:ReleaseAddress"
)

func TestElasticIP(t *testing.T) {
	kindtest.RunWith(t, engine.For(NewElasticIP), func(t *testing.T, s *kindtest.Subject) { inNetwork(t, s) },
		slices.Concat(addressLives(), addressDeletions()))
}

func addressLives() []kindtest.Case {
	earlier := ownedTags("ElasticIP", "exit", "an-earlier-one")
	return []kindtest.Case{
		{Name: "absent is allocated", Object: addressOf(), Cause: engine.New, Actions: []string{allocate}},
		{Name: "of the domain vpc", Object: addressOf(func(s *addressSpec) { s.Domain = "vpc" }), Cause: engine.New, Actions: []string{allocate}},
		{Name: "an address that vanished is replaced", Existing: addressOf(), Object: addressOf(), Drift: true, Before: onAddress(releaseAddress),
			Cause: engine.New, Actions: []string{allocate}},
		{Name: "left by an earlier object of this name, it is taken over", Object: addressOf(),
			Before: func(t *testing.T, r *kindtest.Rig) { makeAddress(t, r, earlier) },
			Cause:  engine.Edited, Diff: []string{"Tags[nexus.ai/owner-uid]"}, Actions: []string{tag}},
		{Name: "an association is no drift", Existing: addressOf(), Object: addressOf(), Drift: true, Cause: engine.InSync,
			Before: func(t *testing.T, r *kindtest.Rig) { useAddress(t, r, nil) }},
		{Name: "tags are added and dropped", Existing: addressOf(addressTag("old", "1")), Object: addressOf(addressTag("team", "a")),
			Cause: engine.Edited, Diff: []string{"Tags[team]", "Tags[old]"}, Actions: []string{tag, untag}},
		{Name: "tags that somebody changed are restored", Existing: addressOf(addressTag("team", "a")),
			Object: addressOf(addressTag("team", "a")), Drift: true,
			Before: onAddress(func(ctx context.Context, c *ec2.Client, a types.Address) error {
				_, err := c.CreateTags(ctx,
					&ec2.CreateTagsInput{Resources: []string{*a.AllocationId}, Tags: []types.Tag{{Key: aws.String("team"), Value: aws.String("b")}}})
				return err
			}), Cause: engine.Drifted, Diff: []string{"Tags[team]"}, Actions: []string{tag}},
		{Name: "EC2-Classic is refused", Object: addressOf(func(s *addressSpec) { s.Domain = "standard" }), Stalled: status.ReasonInvalidSpec},
		{Name: "a pool is refused", Object: addressOf(inPool), Stalled: status.ReasonInvalidSpec},
		{Name: "a pool of the customer is refused", Object: addressOf(func(s *addressSpec) { s.CustomerOwnedIPv4Pool = aws.String("") }),
			Stalled: status.ReasonInvalidSpec},
		{Name: "a border group is refused", Object: addressOf(func(s *addressSpec) { s.NetworkBorderGroup = aws.String("us-west-2-lax-1") }),
			Stalled: status.ReasonInvalidSpec},
	}
}

func inPool(s *addressSpec) { s.PublicIPv4Pool = aws.String("ipv4pool-ec2-012345") }

func addressDeletions() []kindtest.Case {
	refusedOnce := func(_ *testing.T, r *kindtest.Rig) {
		r.AWS.Fault(emulator.Match{Service: "ec2", Op: "ReleaseAddress", Times: 1},
			emulator.Fail(400, "InvalidIPAddress.InUse", "The specified Elastic IP address is in use."))
	}
	orphan := addressOf(func(s *addressSpec) { s.DeletionPolicy = v1alpha1.DeletionOrphan })
	used := func(t *testing.T, r *kindtest.Rig) { useAddress(t, r, nil) }
	return []kindtest.Case{
		{Name: "is released", Existing: addressOf(), Object: addressOf(), Deleting: true, Drift: true, Cause: engine.Deleting,
			Actions: []string{release}},
		{Name: "a refused release is sent again", Existing: addressOf(), Object: addressOf(), Deleting: true, Drift: true, Before: refusedOnce,
			Cause: engine.Deleting, Actions: []string{release}},
		{Name: "one that is in use is kept", Existing: addressOf(), Object: addressOf(), Deleting: true, Drift: true, Before: used,
			Waiting: status.ReasonInUse},
		{Name: "releasing what is gone", Existing: addressOf(), Object: addressOf(), Deleting: true, Drift: true,
			Before: onAddress(releaseAddress), Cause: engine.Gone},
		{Name: "Orphan removes the owner tags of one in use", Existing: orphan, Object: orphan, Deleting: true, Drift: true, Before: used,
			Cause: engine.Deleting, Diff: ownerPaths, Actions: []string{untag}},
	}
}

func addressLife(*testing.T) kindtest.Life {
	return kindtest.Life{
		Sample: addressOf(addressTag("team", "a")),
		Exists: func(t *testing.T, r *kindtest.Rig) bool {
			t.Helper()
			n := len(addresses(t, r))
			if n > 1 {
				t.Errorf("%d addresses were allocated\n%s", n, r.AWS.Calls())
			}
			return n > 0
		},
		Edited:  addressOf(addressTag("team", "b")),
		Invalid: []v1alpha1.Resource{addressOf(inPool)},
	}
}

func TestElasticIPSurvivesFaults(t *testing.T) {
	kindtest.Faults(t, engine.For(NewElasticIP), addressLife(t))
}

func TestElasticIPSurvivesLag(t *testing.T) {
	kindtest.Lag(t, engine.For(NewElasticIP), addressLife(t))
}

func TestElasticIPCosts(t *testing.T) {
	s, _ := subjectIn(t, engine.For(NewElasticIP), addressOf())
	// two searches by tags, the create, a look; a look; a look, the release, two looks that verify it
	costs(t, s, [2]int{4, 1}, [2]int{1, 0}, [2]int{4, 1})
}

// The user of an address is named, and the address is released as soon as it has no user.
func TestAnAddressInUseIsHeldWithWhatUsesIt(t *testing.T) {
	for description, words := range map[string]string{
		"Interface for NAT Gateway nat-0123456789abcdef0": " (Interface for NAT Gateway nat-0123456789abcdef0) to stop using the address ",
		"": " (private address 10.20.1.",
	} {
		s, r := subjectIn(t, engine.For(NewElasticIP), addressOf())
		kindtest.Settled(t, s)
		association, nic := useAddress(t, r, &description)
		kindtest.Settled(t, s)
		st := s.Object.(*v1alpha1.ElasticIP).Status
		if st.AssociationID != association || st.NetworkInterfaceID != nic || !strings.HasPrefix(st.PrivateIPAddress, "10.20.1.") {
			t.Errorf("%+v", st)
		}
		s.Deleting = true
		mark := r.AWS.Mark()
		held(t, s, "network interface "+nic+words)
		if w := r.AWS.Since(mark).Writes(); len(w) > 0 {
			t.Errorf("writes to an address in use:\n%s", w)
		}
		_, err := api(r).DisassociateAddress(t.Context(), &ec2.DisassociateAddressInput{AssociationId: &association})
		kindtest.Must(t, err)
		kindtest.Settled(t, s)
		if left := addresses(t, r); len(left) > 0 {
			t.Error("the address was left behind")
		}
	}
}

func TestAnAddressOfAnInstanceIsHeldWithTheInstance(t *testing.T) {
	s, r := subjectIn(t, engine.For(NewElasticIP), addressOf())
	kindtest.Settled(t, s)
	subnet := makeSubnet(t, r, block, nil)
	run, err := api(r).RunInstances(t.Context(),
		&ec2.RunInstancesInput{ImageId: aws.String("ami-12c6146b"), MinCount: aws.Int32(1), MaxCount: aws.Int32(1), SubnetId: &subnet})
	kindtest.Must(t, err)
	id := run.Instances[0].InstanceId
	_, err = api(r).AssociateAddress(t.Context(), &ec2.AssociateAddressInput{AllocationId: addresses(t, r)[0].AllocationId, InstanceId: id})
	kindtest.Must(t, err)
	s.Deleting = true
	held(t, s, "instance "+*id+" to stop using the address ")
}

func TestAnAddressIsAdoptedByItsIdentifier(t *testing.T) {
	s, r := subjectIn(t, engine.For(NewElasticIP), addressOf())
	id := makeAddress(t, r, map[string]string{"theirs": "1"})
	s.AllowAdoption = true
	s.Edit(addressOf(func(s *addressSpec) { s.ImportID = id; adopting(&s.CommonSpec) }))
	kindtest.Settled(t, s)
	if a := addresses(t, r); len(a) != 1 || kind.TagMap(a[0].Tags)["nexus.ai/owner-uid"] != "uid-of-exit" ||
		kind.TagMap(a[0].Tags)["theirs"] != "1" {
		t.Errorf("%+v", a)
	}
}

func TestPublishedFieldsOfAnElasticIP(t *testing.T) {
	s, r := subjectIn(t, engine.For(NewElasticIP), addressOf())
	kindtest.Settled(t, s)
	st, a := s.Object.(*v1alpha1.ElasticIP).Status, addresses(t, r)[0]
	if st.AllocationID != *a.AllocationId || st.ID != st.AllocationID || st.PublicIP != *a.PublicIp || st.Domain != "vpc" ||
		st.AssociationID != "" ||
		st.ARN != "arn:aws:ec2:"+kindtest.Region+":"+kindtest.Account+":elastic-ip/"+st.ID {
		t.Errorf("%+v", st)
	}
	if a := any(s.Object).(kind.Referable).ReferableAttributes(); a["allocationID"] != st.ID || a["publicIP"] != st.PublicIP {
		t.Error(a)
	}
}
