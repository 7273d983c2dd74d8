// SPDX-License-Identifier: Apache-2.0

package ec2

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

type instanceSpec = v1alpha1.EC2InstanceSpec

const (
	image       = "ami-12c6146b"
	secretData  = "#!/bin/sh\necho hunter2"
	run         = "ec2:RunInstances"
	start       = "ec2:StartInstances"
	stop        = "ec2:StopInstances"
	terminate   = "ec2:TerminateInstances"
	change      = "ec2:ModifyInstanceAttribute"
	modifyIMDS  = "ec2:ModifyInstanceMetadataOptions"
	monitor     = "ec2:MonitorInstances"
	unmonitor   = "ec2:UnmonitorInstances"
	bind        = "ec2:AssociateIamInstanceProfile"
	rebind      = "ec2:ReplaceIamInstanceProfileAssociation"
	unbind      = "ec2:DisassociateIamInstanceProfile"
	instanceKey = "arn:aws:kms:" + kindtest.Region + ":" + kindtest.Account + ":key/1234abcd-12ab-34cd-56ef-1234567890ab"
)

// instanceOf is an instance in subnet a.
func instanceOf(edits ...func(s *instanceSpec)) *v1alpha1.EC2Instance {
	o := &v1alpha1.EC2Instance{}
	o.Name = "web"
	o.Spec.ImageID, o.Spec.InstanceType, o.Spec.SubnetRef = image, "t3.micro", &v1alpha1.ObjectReference{Name: "a"}
	for _, edit := range edits {
		edit(&o.Spec)
	}
	return o
}

// everyField declares every field that can be changed, and those that cannot.
func everyField(s *instanceSpec) {
	s.InstanceName, s.KeyPairRef, s.SecurityGroupRefs = "web", &v1alpha1.ObjectReference{Name: keyName},
		[]v1alpha1.ObjectReference{{Name: "web"}}
	s.State, s.IAMInstanceProfile, s.AvailabilityZone = aws.String(running), aws.String("app"), kindtest.Region+"a"
	s.Monitoring, s.DisableAPITermination, s.EBSOptimized = aws.Bool(false), aws.Bool(false), aws.Bool(false)
	s.MetadataOptions = &v1alpha1.EC2MetadataOptions{HTTPTokens: aws.String("optional"), HTTPEndpoint: aws.String("enabled"),
		HTTPPutResponseHopLimit: aws.Int32(2), InstanceMetadataTags: aws.String("enabled")}
	s.BlockDeviceMappings = []v1alpha1.EC2BlockDeviceMapping{{DeviceName: "/dev/sdf",
		EBS: v1alpha1.EC2EBSBlockDevice{VolumeSize: 10, VolumeType: "gp3", IOPS: aws.Int32(3000), Throughput: aws.Int32(125),
			DeleteOnTermination: aws.Bool(true), Encrypted: aws.Bool(true), KMSKeyRef: &v1alpha1.ObjectReference{Name: "data"}}}}
}

func power(state string) func(s *instanceSpec) { return func(s *instanceSpec) { s.State = &state } }

func typed(name string) func(s *instanceSpec) { return func(s *instanceSpec) { s.InstanceType = name } }

func profiled(name string) func(s *instanceSpec) {
	return func(s *instanceSpec) { s.IAMInstanceProfile = &name }
}

func grouped(names ...string) func(s *instanceSpec) {
	return func(s *instanceSpec) {
		s.SecurityGroupRefs = nil
		for _, name := range names {
			s.SecurityGroupRefs = append(s.SecurityGroupRefs, v1alpha1.ObjectReference{Name: name})
		}
	}
}

func metadata(edit func(m *v1alpha1.EC2MetadataOptions)) func(s *instanceSpec) {
	return func(s *instanceSpec) {
		m := v1alpha1.EC2MetadataOptions{}
		if s.MetadataOptions != nil {
			m = *s.MetadataOptions
		}
		edit(&m)
		s.MetadataOptions = &m
	}
}

func monitored(on bool) func(s *instanceSpec) { return func(s *instanceSpec) { s.Monitoring = &on } }

func protected(on bool) func(s *instanceSpec) {
	return func(s *instanceSpec) { s.DisableAPITermination = &on }
}

func optimized(on bool) func(s *instanceSpec) { return func(s *instanceSpec) { s.EBSOptimized = &on } }

func userData(text string) func(s *instanceSpec) { return func(s *instanceSpec) { s.UserData = text } }

func secretUserData(s *instanceSpec) {
	s.UserDataSecretRef = &v1alpha1.SecretKeyReference{Name: "boot", Key: "script"}
}

func deletes(p v1alpha1.DeletionPolicy) func(s *instanceSpec) {
	return func(s *instanceSpec) { s.DeletionPolicy = p }
}

func instanceTag(k, v string) func(s *instanceSpec) {
	return func(s *instanceSpec) { withTag(&s.CommonSpec, k, v) }
}

// inServers makes the objects that instances refer to: a network with two subnets and two groups, a key pair, a Secret and profiles.
func inServers(t *testing.T, s *kindtest.Subject) {
	t.Helper()
	inNetwork(t, s)
	r := s.Rig
	for name, block := range map[string]string{"a": "10.20.1.0/24", "b": "10.20.2.0/24"} {
		made, err := api(r).CreateSubnet(t.Context(),
			&ec2.CreateSubnetInput{VpcId: vpcID(t, r), CidrBlock: &block, AvailabilityZone: aws.String(kindtest.Region + "a")})
		kindtest.Must(t, err)
		s.Targets["Subnet/"+name] = kind.Target{ID: *made.Subnet.SubnetId}
	}
	for _, name := range []string{"web", "other"} {
		made, err := api(r).CreateSecurityGroup(t.Context(),
			&ec2.CreateSecurityGroupInput{VpcId: vpcID(t, r), GroupName: &name, Description: &name})
		kindtest.Must(t, err)
		s.Targets["SecurityGroup/"+name] = kind.Target{ID: *made.GroupId}
	}
	s.Targets["EC2KeyPair/"+keyName] = kind.Target{ID: keyName}
	s.Targets["KMSKey/data"] = kind.Target{ID: "1234abcd-12ab-34cd-56ef-1234567890ab", ARN: instanceKey}
	s.Secrets = map[string]string{"boot/script": secretData, "boot/long": strings.Repeat("a", maxUserData+1)}
	makeProfile(t, r, "app", "/team/")
	makeProfile(t, r, "other", "/team/")
	makeProfile(t, r, "admin", "/")
	s.RolePath = "/team/"
}

// makeProfile makes an instance profile with a role of a path.
func makeProfile(t *testing.T, r *kindtest.Rig, name, path string) {
	t.Helper()
	c := iam.NewFromConfig(r.Config)
	_, err := c.CreateRole(t.Context(),
		&iam.CreateRoleInput{RoleName: &name, Path: &path, AssumeRolePolicyDocument: aws.String(`{"Version":"2012-10-17","Statement":[]}`)})
	kindtest.Must(t, err)
	_, err = c.CreateInstanceProfile(t.Context(), &iam.CreateInstanceProfileInput{InstanceProfileName: &name})
	kindtest.Must(t, err)
	_, err = c.AddRoleToInstanceProfile(t.Context(), &iam.AddRoleToInstanceProfileInput{InstanceProfileName: &name, RoleName: &name})
	kindtest.Must(t, err)
}

// withoutMetadata turns the metadata service off. EC2 takes no other option then.
func withoutMetadata(s *instanceSpec) {
	s.InstanceName, s.MetadataOptions = "web",
		&v1alpha1.EC2MetadataOptions{HTTPEndpoint: aws.String("disabled"), HTTPTokens: aws.String("optional"),
			HTTPPutResponseHopLimit: aws.Int32(2)}
}

func instanceSubject(t *testing.T, o v1alpha1.Resource) (*kindtest.Subject, *kindtest.Rig) {
	t.Helper()
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewInstance), o)
	inServers(t, s)
	return s, r
}

// servers are the instances that are not terminated.
func servers(t *testing.T, r *kindtest.Rig) []types.Instance {
	t.Helper()
	out, err := api(r).DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{})
	kindtest.Must(t, err)
	var all []types.Instance
	for _, r := range out.Reservations {
		all = append(all, r.Instances...)
	}
	return slices.DeleteFunc(all, func(d types.Instance) bool { return d.State.Name == types.InstanceStateNameTerminated })
}

func onServer(f func(ctx context.Context, c *ec2.Client, id string) error) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		kindtest.Must(t, f(t.Context(), api(r), *servers(t, r)[0].InstanceId))
	}
}

func terminateServer(ctx context.Context, c *ec2.Client, id string) error {
	_, err := c.TerminateInstances(ctx, &ec2.TerminateInstancesInput{InstanceIds: []string{id}})
	return err
}

func stopServer(ctx context.Context, c *ec2.Client, id string) error {
	_, err := c.StopInstances(ctx, &ec2.StopInstancesInput{InstanceIds: []string{id}})
	return err
}

func startServer(ctx context.Context, c *ec2.Client, id string) error {
	_, err := c.StartInstances(ctx, &ec2.StartInstancesInput{InstanceIds: []string{id}})
	return err
}

// changeServer changes an attribute of the instance outside the operator.
func changeServer(in ec2.ModifyInstanceAttributeInput) func(*testing.T, *kindtest.Rig) {
	return onServer(func(ctx context.Context, c *ec2.Client, id string) error {
		in.InstanceId = &id
		_, err := c.ModifyInstanceAttribute(ctx, &in)
		return err
	})
}

func makeServer(t *testing.T, r *kindtest.Rig, tags map[string]string) string {
	t.Helper()
	subnets, err := api(r).DescribeSubnets(t.Context(),
		&ec2.DescribeSubnetsInput{Filters: []types.Filter{{Name: aws.String("cidr-block"), Values: []string{"10.20.1.0/24"}}}})
	kindtest.Must(t, err)
	made, err := api(r).RunInstances(t.Context(),
		&ec2.RunInstancesInput{ImageId: aws.String(image), InstanceType: types.InstanceTypeT3Micro, MinCount: aws.Int32(1),
			MaxCount: aws.Int32(1), SubnetId: subnets.Subnets[0].SubnetId,
			MetadataOptions:   &types.InstanceMetadataOptionsRequest{HttpTokens: types.HttpTokensStateRequired},
			TagSpecifications: tagSpecification(types.ResourceTypeInstance, tags)})
	kindtest.Must(t, err)
	return *made.Instances[0].InstanceId
}

func TestInstance(t *testing.T) {
	kindtest.RunWith(t, engine.For(NewInstance), inServers,
		slices.Concat(instanceLives(), instanceRefusals(), instanceEdits(), instanceDrifts(), instanceDeletions()))
}

// User data is not exported, so that rows with it have separate facts, which keep them out of the exports.
func instanceLives() []kindtest.Case {
	earlier := func(t *testing.T, r *kindtest.Rig) {
		makeServer(t, r, ownedTags("EC2Instance", "web", "an-earlier-one"))
	}
	byID := func(s *kindtest.Subject) {
		spec := &s.Object.(*v1alpha1.EC2Instance).Spec
		spec.SubnetRef, spec.SubnetID = nil, s.Targets["Subnet/a"].ID
		spec.SecurityGroupIDs, spec.KeyName = []v1alpha1.SecurityGroupID{v1alpha1.SecurityGroupID(s.Targets["SecurityGroup/web"].ID)}, keyName
	}
	recreated := instanceOf(func(s *instanceSpec) { s.RecreateOnLoss = true })
	return []kindtest.Case{
		{Name: "absent is created by one call", Object: instanceOf(), Cause: engine.New, Actions: []string{run}},
		{Name: "with every field", Object: instanceOf(everyField, instanceTag("team", "a")), Cause: engine.New, Actions: []string{run}},
		{Name: "by identifiers", Object: instanceOf(), Facts: byID, Cause: engine.New, Actions: []string{run}},
		{Name: "with user data", Object: instanceOf(userData("#!/bin/sh\n")), Facts: func(*kindtest.Subject) {}, Cause: engine.New,
			Actions: []string{run}},
		{Name: "with user data of a Secret", Object: instanceOf(secretUserData), Facts: func(*kindtest.Subject) {}, Cause: engine.New,
			Actions: []string{run}},
		{Name: "protected and monitored", Object: instanceOf(protected(true), monitored(true)), Cause: engine.New, Actions: []string{run}},
		{Name: "a stopped one is launched, then stopped", Object: instanceOf(power(stopped)), Cause: engine.New, Actions: []string{run}},
		{Name: "one that somebody stopped is left so without a state", Existing: instanceOf(), Object: instanceOf(), Drift: true,
			Before: onServer(stopServer), Cause: engine.InSync},
		{Name: "settings that are no longer declared stay", Existing: instanceOf(everyField), Cause: engine.InSync,
			Object: instanceOf(everyField, func(s *instanceSpec) {
				s.State, s.IAMInstanceProfile, s.Monitoring, s.DisableAPITermination, s.EBSOptimized, s.SecurityGroupRefs = nil, nil, nil, nil, nil, nil
			})},
		{Name: "without metadata", Object: instanceOf(withoutMetadata), Cause: engine.New, Actions: []string{run}},
		{Name: "a terminated instance is reported, not created again", Existing: instanceOf(), Object: instanceOf(), Drift: true,
			Before: onServer(terminateServer), Stalled: status.ReasonMissing},
		{Name: "and created again where the object says so", Existing: recreated, Object: recreated, Drift: true,
			Before: onServer(terminateServer), Cause: engine.New, Actions: []string{run}},
		{Name: "left by an earlier object of this name, it is taken over", Object: instanceOf(), Before: earlier,
			Cause: engine.Edited, Diff: []string{"Tags[nexus.ai/owner-uid]"}, Actions: []string{tag}},
	}
}

func instanceRefusals() []kindtest.Case {
	refused := func(name string, edits ...func(s *instanceSpec)) kindtest.Case {
		return kindtest.Case{Name: name, Object: instanceOf(edits...), Stalled: status.ReasonInvalidSpec}
	}
	edited := func(name, reason string, to ...func(s *instanceSpec)) kindtest.Case {
		return kindtest.Case{Name: name, Existing: instanceOf(everyField),
			Object: instanceOf(append([]func(s *instanceSpec){everyField}, to...)...), Stalled: reason}
	}
	bounded := func(s *kindtest.Subject) { s.Boundary = "arn:aws:iam::123456789012:policy/b" }
	pathless := func(s *kindtest.Subject) { s.RolePath = "" }
	return []kindtest.Case{
		refused("user data in two places", userData("a"), secretUserData),
		refused("too much user data", secretUserData, func(s *instanceSpec) { s.UserDataSecretRef.Key = "long" }),
		refused("a subnet by identifier and by reference", func(s *instanceSpec) { s.SubnetID = "subnet-0123456789abcdef0" }),
		refused("a key pair by name and by reference", everyField, func(s *instanceSpec) { s.KeyName = keyName }),
		refused("a name beside the tag Name", instanceTag("Name", "a"), func(s *instanceSpec) { s.InstanceName = "b" }),
		refused("the output of the console", consoleOutput),
		refused("a KMS key of a volume that is not encrypted", func(s *instanceSpec) {
			s.BlockDeviceMappings = []v1alpha1.EC2BlockDeviceMapping{{DeviceName: "/dev/sdf",
				EBS: v1alpha1.EC2EBSBlockDevice{VolumeSize: 1, KMSKeyID: instanceKey}}}
		}),
		{Name: "a Secret of another namespace",
			Object:  instanceOf(secretUserData, func(s *instanceSpec) { s.UserDataSecretRef.Namespace = "team-b" }),
			Stalled: status.ReasonNotPermitted},
		{Name: "a Secret that does not exist", Object: instanceOf(secretUserData, func(s *instanceSpec) { s.UserDataSecretRef.Name = "none" }),
			Stalled: status.ReasonCredentialsMissing},
		{Name: "a profile with a role outside the path", Object: instanceOf(profiled("admin")), Stalled: status.ReasonNotPermitted},
		{Name: "a profile where no role is allowed", Object: instanceOf(profiled("app")), Facts: pathless, Stalled: status.ReasonNotPermitted},
		{Name: "a profile where every role is bounded", Object: instanceOf(profiled("app")), Facts: bounded, Stalled: status.ReasonNotPermitted},
		{Name: "a profile that does not exist is waited for", Object: instanceOf(profiled("none")), Waiting: status.ReasonWaiting},
		edited("an edit to a profile with a role outside the path", status.ReasonNotPermitted, profiled("admin")),
		edited("another type while it runs", status.ReasonInvalidSpec, typed("t3.small")),
		edited("EBS optimization while it runs", status.ReasonInvalidSpec, optimized(true)),
		edited("user data while it runs", status.ReasonInvalidSpec, userData("a")),
		edited("another AMI", status.ReasonImmutable, func(s *instanceSpec) { s.ImageID = "ami-0123456789abcdef0" }),
		edited("another subnet", status.ReasonImmutable, func(s *instanceSpec) { s.SubnetRef = &v1alpha1.ObjectReference{Name: "b"} }),
		edited("another key pair", status.ReasonImmutable, func(s *instanceSpec) { s.KeyPairRef, s.KeyName = nil, "other" }),
		edited("another zone", status.ReasonImmutable, func(s *instanceSpec) { s.AvailabilityZone = kindtest.Region + "b" }),
	}
}

func consoleOutput(s *instanceSpec) { s.EnableConsoleOutput = true }

func instanceEdits() []kindtest.Case {
	edit := func(name string, diff, actions []string, from, to func(s *instanceSpec)) kindtest.Case {
		return kindtest.Case{Name: name, Existing: instanceOf(everyField, from), Object: instanceOf(everyField, to), Cause: engine.Edited,
			Diff: diff, Actions: actions}
	}
	is := func(*instanceSpec) {}
	both := func(a, b func(s *instanceSpec)) func(s *instanceSpec) {
		return func(s *instanceSpec) { a(s); b(s) }
	}
	tokens := metadata(func(m *v1alpha1.EC2MetadataOptions) { m.HTTPTokens = aws.String("required") })
	withData := edit("user data while it is stopped", []string{"UserData"}, []string{change}, both(power(stopped), userData("a")),
		both(power(stopped), userData("b")))
	withSecret := edit("user data of a Secret replaces it", []string{"UserData"}, []string{change}, both(power(stopped), userData("a")),
		both(power(stopped), secretUserData))
	unchanged := edit("security groups in another order", nil, nil, grouped("web", "other"), grouped("other", "web"))
	unchanged.Cause, withData.Facts, withSecret.Facts = engine.InSync, func(*kindtest.Subject) {}, func(*kindtest.Subject) {}
	return []kindtest.Case{
		edit("is stopped", []string{"Power"}, []string{stop}, is, power(stopped)),
		edit("is started", []string{"Power"}, []string{start}, power(stopped), is),
		edit("another type while it is stopped", []string{"InstanceType"}, []string{change}, power(stopped),
			both(power(stopped), typed("t3.small"))),
		edit("another type with the stop", []string{"Power", "InstanceType"}, []string{stop, change}, is,
			both(power(stopped), typed("t3.small"))),
		edit("another type with the start", []string{"Power", "InstanceType"}, []string{start, change}, power(stopped), typed("t3.small")),
		edit("EBS optimization while it is stopped", []string{"EBSOptimized"}, []string{change}, power(stopped),
			both(power(stopped), optimized(true))),
		withData, withSecret,
		edit("other security groups", []string{"SecurityGroups"}, []string{change}, is, grouped("other", "web")),
		unchanged,
		edit("protection", []string{"DisableAPITermination"}, []string{change}, is, protected(true)),
		edit("no protection", []string{"DisableAPITermination"}, []string{change}, protected(true), is),
		edit("IMDSv2", []string{"Metadata.HTTPTokens"}, []string{modifyIMDS}, is, tokens),
		edit("IMDSv2 by default", []string{"Metadata.HTTPTokens"}, []string{modifyIMDS}, is, func(s *instanceSpec) { s.MetadataOptions = nil }),
		edit("other metadata options take one call", []string{"Metadata.HTTPPutResponseHopLimit", "Metadata.InstanceMetadataTags"},
			[]string{modifyIMDS}, is, metadata(func(m *v1alpha1.EC2MetadataOptions) {
				m.HTTPPutResponseHopLimit, m.InstanceMetadataTags = aws.Int32(1), aws.String("disabled")
			})),
		edit("no metadata, whatever else is declared of it", []string{"Metadata.HTTPEndpoint"}, []string{modifyIMDS}, is, withoutMetadata),
		edit("metadata again", []string{"Metadata.HTTPEndpoint", "Metadata.HTTPPutResponseHopLimit", "Metadata.InstanceMetadataTags"},
			[]string{modifyIMDS}, withoutMetadata, is),
		edit("no name any more", []string{"Tags[Name]"}, []string{untag}, is, func(s *instanceSpec) { s.InstanceName = "" }),
		edit("monitoring", []string{"Monitoring"}, []string{monitor}, is, monitored(true)),
		edit("no monitoring", []string{"Monitoring"}, []string{unmonitor}, monitored(true), is),
		edit("another profile", []string{"Profile"}, []string{rebind}, is, profiled("other")),
		edit("no profile", []string{"Profile"}, []string{unbind}, is, profiled("")),
		edit("a profile", []string{"Profile"}, []string{bind}, profiled(""), is),
		edit("another name", []string{"Tags[Name]"}, []string{tag}, is, func(s *instanceSpec) { s.InstanceName = "other" }),
		{Name: "tags are added and dropped", Existing: instanceOf(instanceTag("old", "1")), Object: instanceOf(instanceTag("team", "a")),
			Cause: engine.Edited, Diff: []string{"Tags[team]", "Tags[old]"}, Actions: []string{tag, untag}},
	}
}

func instanceDrifts() []kindtest.Case {
	all, off := instanceOf(everyField), instanceOf(everyField, power(stopped))
	drift := func(name string, o *v1alpha1.EC2Instance, path, action string, before func(*testing.T, *kindtest.Rig)) kindtest.Case {
		return kindtest.Case{Name: name, Existing: o, Object: o, Drift: true, Before: before, Cause: engine.Drifted, Diff: []string{path},
			Actions: []string{action}}
	}
	no, yes := &types.AttributeBooleanValue{Value: aws.Bool(false)}, &types.AttributeBooleanValue{Value: aws.Bool(true)}
	return []kindtest.Case{
		drift("one that somebody stopped is started", all, "Power", start, onServer(stopServer)),
		drift("one that somebody started is stopped", off, "Power", stop, onServer(startServer)),
		drift("the type is restored while it is stopped", off, "InstanceType", change,
			changeServer(ec2.ModifyInstanceAttributeInput{InstanceType: &types.AttributeValue{Value: aws.String("t3.large")}})),
		drift("EBS optimization is restored while it is stopped", off, "EBSOptimized", change,
			changeServer(ec2.ModifyInstanceAttributeInput{EbsOptimized: yes})),
		drift("the protection is restored", instanceOf(protected(true)), "DisableAPITermination", change,
			changeServer(ec2.ModifyInstanceAttributeInput{DisableApiTermination: no})),
		drift("the security groups are restored", all, "SecurityGroups", change, func(t *testing.T, r *kindtest.Rig) {
			t.Helper()
			groups, err := api(r).DescribeSecurityGroups(t.Context(),
				&ec2.DescribeSecurityGroupsInput{Filters: []types.Filter{{Name: aws.String("group-name"), Values: []string{"other"}}}})
			kindtest.Must(t, err)
			changeServer(ec2.ModifyInstanceAttributeInput{Groups: []string{*groups.SecurityGroups[0].GroupId}})(t, r)
		}),
		drift("IMDSv2 is required again", instanceOf(), "Metadata.HTTPTokens", modifyIMDS,
			onServer(func(ctx context.Context, c *ec2.Client, id string) error {
				_, err := c.ModifyInstanceMetadataOptions(ctx,
					&ec2.ModifyInstanceMetadataOptionsInput{InstanceId: &id, HttpTokens: types.HttpTokensStateOptional,
						HttpEndpoint: types.InstanceMetadataEndpointStateEnabled})
				return err
			})),
		drift("the monitoring is restored", all, "Monitoring", unmonitor, onServer(func(ctx context.Context, c *ec2.Client, id string) error {
			_, err := c.MonitorInstances(ctx, &ec2.MonitorInstancesInput{InstanceIds: []string{id}})
			return err
		})),
		drift("the profile is restored", instanceOf(profiled("")), "Profile", unbind,
			onServer(func(ctx context.Context, c *ec2.Client, id string) error {
				_, err := c.AssociateIamInstanceProfile(ctx, &ec2.AssociateIamInstanceProfileInput{InstanceId: &id,
					IamInstanceProfile: &types.IamInstanceProfileSpecification{Name: aws.String("admin")}})
				return err
			})),
		drift("tags that somebody changed are restored", instanceOf(instanceTag("team", "a")), "Tags[team]", tag,
			onServer(func(ctx context.Context, c *ec2.Client, id string) error {
				_, err := c.CreateTags(ctx,
					&ec2.CreateTagsInput{Resources: []string{id}, Tags: []types.Tag{{Key: aws.String("team"), Value: aws.String("b")}}})
				return err
			})),
	}
}

func instanceDeletions() []kindtest.Case {
	ending := func(name string, o *v1alpha1.EC2Instance, actions ...string) kindtest.Case {
		return kindtest.Case{Name: name, Existing: o, Object: o, Deleting: true, Drift: true, Cause: engine.Deleting, Actions: actions}
	}
	protection := changeServer(ec2.ModifyInstanceAttributeInput{DisableApiTermination: &types.AttributeBooleanValue{Value: aws.Bool(true)}})
	held := ending("one that is protected is kept", instanceOf(protected(true)))
	held.Cause, held.Waiting = "", status.ReasonDeletionProtected
	theirs := ending("one that somebody protected is kept", instanceOf())
	theirs.Cause, theirs.Waiting, theirs.Before = "", status.ReasonDeletionProtected, protection
	lifted := ending("false lifts the protection first", instanceOf(protected(false)), change)
	lifted.Before = protection
	kept := ending("Stop stops it and keeps it", instanceOf(protected(true), deletes(v1alpha1.DeletionStop)), stop)
	kept.Diff = []string{"(" + stop + ")"}
	orphan := ending("Orphan removes the owner tags and nothing else", instanceOf(deletes(v1alpha1.DeletionOrphan)), untag)
	orphan.Diff = ownerPaths
	gone := ending("deleting what is terminated", instanceOf())
	gone.Cause, gone.Before = engine.Gone, onServer(terminateServer)
	idle := ending("Stop leaves a stopped one as it is", instanceOf(power(stopped), deletes(v1alpha1.DeletionStop)))
	idle.Cause = engine.Gone
	return []kindtest.Case{
		ending("deleting", instanceOf(), terminate),
		ending("deleting a stopped one", instanceOf(power(stopped)), terminate),
		held, theirs, lifted, kept, orphan, gone, idle,
	}
}

func instanceLife(t *testing.T) kindtest.Life {
	return kindtest.Life{
		Sample: instanceOf(everyField, instanceTag("team", "a")), Facts: func(s *kindtest.Subject) { inServers(t, s) },
		Exists: func(t *testing.T, r *kindtest.Rig) bool {
			t.Helper()
			n := len(servers(t, r))
			if n > 1 {
				t.Errorf("%d instances were launched\n%s", n, r.AWS.Calls())
			}
			return n > 0
		},
		Edited:  instanceOf(everyField, instanceTag("team", "b"), grouped("other"), monitored(true)),
		Invalid: []v1alpha1.Resource{instanceOf(everyField, consoleOutput)},
	}
}

func TestInstanceSurvivesFaults(t *testing.T) {
	kindtest.Faults(t, engine.For(NewInstance), instanceLife(t))
}

func TestInstanceSurvivesLag(t *testing.T) {
	kindtest.Lag(t, engine.For(NewInstance), instanceLife(t))
}

func TestInstanceCosts(t *testing.T) {
	s, _ := instanceSubject(t, instanceOf())
	// two searches by tags, the launch, a look; a look; a look at instance and protection, the termination, two looks that verify it
	costs(t, s, [2]int{4, 1}, [2]int{1, 0}, [2]int{5, 1})
	s, _ = instanceSubject(t, instanceOf(everyField))
	// the profile before the launch, and the protection at each look
	costs(t, s, [2]int{6, 1}, [2]int{2, 0}, [2]int{5, 1})
}

// An instance takes its time to start and to stop: each pass looks once and ends, and a change that needs a stop follows it.
func TestAnInstanceThatTakesItsTimeIsWaitedFor(t *testing.T) {
	s, r := instanceSubject(t, instanceOf())
	r.AWS.SetClock(func() time.Time { return s.Clock })
	r.AWS.EC2.SetInstancesTake(time.Minute)
	t.Cleanup(func() { r.AWS.EC2.SetInstancesTake(0); r.AWS.SetClock(nil) })
	busy := func(state string) {
		t.Helper()
		for range 2 {
			_, err := s.Pass(t.Context(), nil)
			if w, ok := status.AsWaiting(err); !ok || w.Reason != status.ReasonBusy || !strings.Contains(w.For, state) {
				t.Fatalf("%v", err)
			}
		}
	}
	busy("the instance is pending")
	if st := s.Object.(*v1alpha1.EC2Instance).Status; st.InstanceID == "" || st.InstanceState != "pending" {
		t.Errorf("%+v", st)
	}
	s.Clock = s.Clock.Add(time.Minute)
	kindtest.Settled(t, s)
	s.Edit(instanceOf(power(stopped), typed("t3.small")))
	if _, err := s.Pass(t.Context(), nil); !waits(err) {
		t.Fatalf("%v", err)
	}
	busy("the instance is stopping")
	s.Clock = s.Clock.Add(time.Minute)
	kindtest.Settled(t, s)
	if d := servers(t, r)[0]; d.InstanceType != types.InstanceTypeT3Small || d.State.Name != types.InstanceStateNameStopped {
		t.Errorf("%s %s", d.InstanceType, d.State.Name)
	}
	s.Deleting = true
	if _, err := s.Pass(t.Context(), nil); !waits(err) {
		t.Fatalf("%v", err)
	}
	busy("the instance is shutting-down")
	s.Clock = s.Clock.Add(time.Minute)
	kindtest.Settled(t, s)
	if n := r.AWS.Calls().Match("ec2", "TerminateInstances", "").Count(); n != 1 || len(servers(t, r)) > 0 {
		t.Errorf("%d terminations", n)
	}
}

// A pending instance can be terminated at once, and is stopped once it runs.
func TestAPendingInstanceIsDeletedAtOnce(t *testing.T) {
	for policy, want := range map[v1alpha1.DeletionPolicy]string{v1alpha1.DeletionDelete: "TerminateInstances", v1alpha1.DeletionStop: ""} {
		s, r := instanceSubject(t, instanceOf(deletes(policy)))
		r.AWS.SetClock(func() time.Time { return s.Clock })
		r.AWS.EC2.SetInstancesTake(time.Minute)
		_, err := s.Pass(t.Context(), nil)
		if !waits(err) {
			t.Fatalf("%v", err)
		}
		mark := r.AWS.Mark()
		s.Deleting = true
		if _, err := s.Pass(t.Context(), nil); !waits(err) {
			t.Fatalf("%s: %v", policy, err)
		}
		if w := r.AWS.Since(mark).Writes(); want == "" && len(w) > 0 || want != "" && w.Match("ec2", want, "").Count() != 1 {
			t.Errorf("%s: %s", policy, w)
		}
		s.Clock = s.Clock.Add(time.Minute)
		if policy == v1alpha1.DeletionStop {
			if _, err := s.Pass(t.Context(), nil); !waits(err) {
				t.Fatalf("%v", err)
			}
			s.Clock = s.Clock.Add(time.Minute)
		}
		kindtest.Settled(t, s)
		r.AWS.EC2.SetInstancesTake(0)
		r.AWS.SetClock(nil)
		if left := servers(t, r); (len(left) > 0) != (policy == v1alpha1.DeletionStop) || len(left) > 0 &&
			left[0].State.Name != types.InstanceStateNameStopped {
			t.Errorf("%s: %+v", policy, left)
		}
	}
}

func TestAnInstanceThatDidNotLaunchIsExplained(t *testing.T) {
	failed := func(code string) *types.Instance {
		return &types.Instance{InstanceId: aws.String("i-1"),
			StateReason: &types.StateReason{Code: &code, Message: aws.String(code + ": Volume limit exceeded")}}
	}
	err := explainLaunch(failed("Client.VolumeLimitExceeded"))
	stalls(t, err, status.ReasonRefusedByAWS)
	for _, words := range []string{"i-1: Client.VolumeLimitExceeded: Volume limit exceeded", "recreateOnLoss: true"} {
		if !strings.Contains(err.Error(), words) {
			t.Errorf("%v, want %q", err, words)
		}
	}
	if err := explainLaunch(failed("Client.InternalError")); err == nil || !strings.Contains(err.Error(), "kms:CreateGrant") {
		t.Errorf("%v, want what EC2 does not say about the KMS key", err)
	}
	for _, d := range []*types.Instance{nil, {}, failed("Client.UserInitiatedShutdown")} {
		if err := explainLaunch(d); err != nil {
			t.Errorf("%+v: %v", d, err)
		}
	}
}

// The user data of a Secret reaches AWS, and neither the status nor a plan.
func TestUserDataOfASecretStaysSecret(t *testing.T) {
	s, r := instanceSubject(t, instanceOf(secretUserData, power(stopped)))
	kindtest.Settled(t, s)
	sent := func(want string) {
		t.Helper()
		out, err := api(r).DescribeInstanceAttribute(t.Context(),
			&ec2.DescribeInstanceAttributeInput{InstanceId: servers(t, r)[0].InstanceId, Attribute: types.InstanceAttributeNameUserData})
		kindtest.Must(t, err)
		if got, _ := base64.StdEncoding.DecodeString(aws.ToString(out.UserData.Value)); string(got) != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	sent(secretData)
	s.Secrets["boot/script"] = "another script"
	p, err := s.Decide(t.Context())
	kindtest.Must(t, err)
	if len(p.Diff) != 1 || p.Diff[0].Path != "UserData" || strings.Contains(p.Diff[0].Want+p.Diff[0].Have, "script") {
		t.Errorf("%+v", p.Diff)
	}
	kindtest.Settled(t, s)
	sent("another script")
	printed, err := json.Marshal(s.Object.(*v1alpha1.EC2Instance).Status)
	kindtest.Must(t, err)
	if strings.Contains(string(printed), "hunter2") || strings.Contains(string(printed), "another script") {
		t.Errorf("%s", printed)
	}
	if n := r.AWS.Calls().Match("ec2", "DescribeInstanceAttribute", "").Count(); n > 2 {
		t.Errorf("the operator read the user data: %d reads", n)
	}
}

// An instance that is stopping takes no change that needs it stopped: the refusal is waited for.
func TestAStopThatTakesItsTimeIsNoFailure(t *testing.T) {
	s, r := instanceSubject(t, instanceOf())
	kindtest.Settled(t, s)
	r.AWS.Fault(emulator.Match{Service: "ec2", Op: "ModifyInstanceAttribute", Times: 1},
		emulator.Fail(400, "IncorrectInstanceState", "The instance is not in the 'stopped' state."))
	s.Edit(instanceOf(power(stopped), typed("t3.small")))
	if _, err := s.Pass(t.Context(), nil); !waits(err) {
		t.Fatalf("%v", err)
	}
	kindtest.Settled(t, s)
}

func TestVolumesOfAnInstanceAreTagged(t *testing.T) {
	s, r := instanceSubject(t, instanceOf(everyField))
	kindtest.Settled(t, s)
	out, err := api(r).DescribeVolumes(t.Context(), &ec2.DescribeVolumesInput{})
	kindtest.Must(t, err)
	if len(out.Volumes) == 0 {
		t.Fatal("no volumes")
	}
	for _, v := range out.Volumes {
		if tags := kind.TagMap(v.Tags); tags["nexus.ai/owner-uid"] != "uid-of-web" || tags["Name"] != "web" {
			t.Errorf("%+v", tags)
		}
	}
}

func TestAnInstanceWaitsForItsReferences(t *testing.T) {
	for _, target := range []string{"Subnet/a", "SecurityGroup/web", "EC2KeyPair/" + keyName, "KMSKey/data"} {
		s, r := instanceSubject(t, instanceOf(everyField))
		delete(s.Targets, target)
		_, err := s.Decide(t.Context())
		if w, ok := status.AsWaiting(err); !ok || w.For != target || r.AWS.Calls().Match("ec2", "RunInstances", "").Count() > 0 {
			t.Errorf("%s: %v", target, err)
		}
	}
}

func TestAnInstanceIsAdoptedByItsIdentifier(t *testing.T) {
	s, r := instanceSubject(t, instanceOf())
	id := makeServer(t, r, map[string]string{"theirs": "1"})
	s.AllowAdoption = true
	s.Edit(instanceOf(func(s *instanceSpec) { s.ImportID = id; adopting(&s.CommonSpec) }))
	kindtest.Settled(t, s)
	if d := servers(t, r); len(d) != 1 || kind.TagMap(d[0].Tags)["nexus.ai/owner-uid"] != "uid-of-web" ||
		kind.TagMap(d[0].Tags)["theirs"] != "1" {
		t.Errorf("%+v", d)
	}
}

// No change leads to a look at the profile where the object declares the one that the instance has, or none.
func TestAnInstanceIsAdoptedOnlyWithARoleThatIsPassed(t *testing.T) {
	for _, c := range []struct {
		has      string
		declared []func(*instanceSpec)
		refused  bool
	}{
		{"admin", []func(*instanceSpec){profiled("admin")}, true}, {"admin", nil, true}, {"admin", []func(*instanceSpec){profiled("app")}, true},
		{"app", []func(*instanceSpec){profiled("app")}, false}, {"app", nil, false},
	} {
		s, r := instanceSubject(t, instanceOf())
		id := makeServer(t, r, nil)
		_, err := api(r).AssociateIamInstanceProfile(t.Context(),
			&ec2.AssociateIamInstanceProfileInput{InstanceId: &id, IamInstanceProfile: &types.IamInstanceProfileSpecification{Name: &c.has}})
		kindtest.Must(t, err)
		s.AllowAdoption = true
		s.Edit(instanceOf(append(c.declared, func(s *instanceSpec) { s.ImportID = id; adopting(&s.CommonSpec) })...))
		_, err = s.Settle(t.Context(), nil)
		if st, ok := status.AsStalled(err); (ok && st.Reason == status.ReasonNotPermitted) != c.refused || !ok && err != nil {
			t.Errorf("an instance with profile %s, %d declared: %v", c.has, len(c.declared), err)
		}
		if d := servers(t, r); c.refused && len(d[0].Tags) > 0 {
			t.Errorf("written in spite of the refusal: %v", d[0].Tags)
		}
	}
}

// A person may add any role to a profile later, which the instance would act as.
func TestAProfileWithoutARoleIsWaitedFor(t *testing.T) {
	s, r := instanceSubject(t, instanceOf(profiled("empty")))
	_, err := iam.NewFromConfig(r.Config).CreateInstanceProfile(t.Context(),
		&iam.CreateInstanceProfileInput{InstanceProfileName: aws.String("empty")})
	kindtest.Must(t, err)
	if _, err := s.Settle(t.Context(), nil); !waits(err) || len(servers(t, r)) > 0 {
		t.Errorf("%v, %d instances", err, len(servers(t, r)))
	}
}

// The right to change a resource depends on the owner's tags, so that these come first.
func TestAnAdoptedInstanceIsTaggedBeforeItIsChanged(t *testing.T) {
	s, r := instanceSubject(t, instanceOf())
	id := makeServer(t, r, map[string]string{"theirs": "1"})
	s.AllowAdoption = true
	s.Edit(instanceOf(monitored(true), func(s *instanceSpec) { s.ImportID = id; adopting(&s.CommonSpec) }))
	mark := r.AWS.Mark()
	kindtest.Settled(t, s)
	var ops []string
	for _, c := range r.AWS.Since(mark) {
		ops = append(ops, c.Action())
	}
	tagged, changed := slices.Index(ops, tag), slices.Index(ops, monitor)
	if tagged < 0 || changed < 0 || !slices.Contains(ops[tagged:max(tagged, changed)], "ec2:DescribeInstances") {
		t.Errorf("%q", ops)
	}
}

func TestALostInstanceIsMissingWithoutItsProfileToo(t *testing.T) {
	s, r := instanceSubject(t, instanceOf(profiled("app")))
	kindtest.Settled(t, s)
	onServer(terminateServer)(t, r)
	c := iam.NewFromConfig(r.Config)
	out, err := c.GetInstanceProfile(t.Context(), &iam.GetInstanceProfileInput{InstanceProfileName: aws.String("app")})
	kindtest.Must(t, err)
	for _, role := range out.InstanceProfile.Roles {
		_, err := c.RemoveRoleFromInstanceProfile(t.Context(),
			&iam.RemoveRoleFromInstanceProfileInput{InstanceProfileName: aws.String("app"), RoleName: role.RoleName})
		kindtest.Must(t, err)
	}
	_, err = c.DeleteInstanceProfile(t.Context(), &iam.DeleteInstanceProfileInput{InstanceProfileName: aws.String("app")})
	kindtest.Must(t, err)
	_, err = s.Settle(t.Context(), nil)
	stalls(t, err, status.ReasonMissing)
}

func TestImportID_NeverLaunchesAnotherInstance(t *testing.T) {
	s, _ := instanceSubject(t, instanceOf(func(s *instanceSpec) { s.ImportID = "i-0123456789abcdef0"; adopting(&s.CommonSpec) }))
	s.AllowAdoption = true
	_, err := s.Settle(t.Context(), nil)
	stalls(t, err, status.ReasonMissing)
}

func TestPublishedFieldsOfAnInstance(t *testing.T) {
	s, r := instanceSubject(t, instanceOf())
	kindtest.Settled(t, s)
	st, d := s.Object.(*v1alpha1.EC2Instance).Status, servers(t, r)[0]
	if st.InstanceID != *d.InstanceId || st.ID != st.InstanceID || st.ARN != "arn:aws:ec2:"+kindtest.Region+":"+kindtest.Account+":instance/"+
		st.ID || st.InstanceState != "running" ||
		st.PrivateIP != *d.PrivateIpAddress || st.PrivateDNS != *d.PrivateDnsName || st.VPCID != *vpcID(t, r) || st.SubnetID != *d.SubnetId ||
		st.AvailabilityZone != kindtest.Region+"a" || !st.LaunchTime.Time.Equal(*d.LaunchTime) {
		t.Errorf("%+v", st)
	}
	if a := any(s.Object).(kind.Referable).ReferableAttributes(); a["instanceID"] != st.ID || a["privateIP"] != st.PrivateIP ||
		a["privateDNS"] != st.PrivateDNS {
		t.Error(a)
	}
}
