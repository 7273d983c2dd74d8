// SPDX-License-Identifier: Apache-2.0

package ec2

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// InstanceState is an instance as both the spec and EC2 can express it.
type InstanceState struct {
	Resource `drift:"id"`
	// Stops is set where a deletion stops the instance.
	Stops bool `drift:"id"`
	// RolePath and Boundary are the provider's guards for the role of an instance profile.
	RolePath, Boundary string `drift:"id"`
	// Devices lists the devices of the create; EC2 does not describe the settings of volumes with the instance.
	Devices []types.BlockDeviceMapping `drift:"id"`

	State                                             types.InstanceStateName `drift:"observed"`
	VPCID, PrivateIP, PublicIP, PrivateDNS, PublicDNS string                  `drift:"observed"`
	Launched                                          time.Time               `drift:"observed"`
	// Association is that of the instance profile, and Refusal is why the wanted profile is not used. Both are read only
	// where another profile is wanted.
	Association string `drift:"observed"`
	Refusal     error  `drift:"observed"`

	ImageID, SubnetID, KeyName, Zone *string `drift:"immutable"`

	Power, InstanceType, Profile                    *string
	SecurityGroups                                  []string `drift:"set"`
	UserData                                        *kind.WriteOnly
	Metadata                                        v1alpha1.EC2MetadataOptions
	Monitoring, DisableAPITermination, EBSOptimized *bool
	Tags                                            map[string]string `drift:"tags"`
}

// The values of Power.
const (
	running = "Running"
	stopped = "Stopped"
)

type instance struct {
	api   *ec2.Client
	batch kind.Batch[types.Instance]
	iam   *iam.Client
}

// NewInstance binds the EC2Instance kind to an identity. Its IAM actions:
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonec2.html
func NewInstance(cfg aws.Config) kind.Kind[*v1alpha1.EC2Instance, InstanceState] {
	i := &instance{api: ec2.NewFromConfig(cfg), iam: iam.NewFromConfig(cfg)}
	return kind.FromTable(kind.Table[*v1alpha1.EC2Instance, InstanceState]{
		// The volumes may hold data, so that a terminated instance is reported rather than replaced.
		Meta: kind.Meta{Facts: instanceFacts(), Identity: kind.ByToken, HoldsData: true, References: []string{"Subnet", "SecurityGroup", "EC2KeyPair", "KMSKey"}},
		Identify: func(sc kind.Scope, cr *v1alpha1.EC2Instance) (InstanceState, error) {
			return InstanceState{Resource: identify(sc, "instance"), Stops: cr.Spec.DeletionPolicy == v1alpha1.DeletionStop,
				RolePath: sc.Guards.RolePath, Boundary: sc.Guards.Boundary, DisableAPITermination: cr.Spec.DisableAPITermination}, nil
		},
		Declare: declareInstance, Publish: publishInstance, Refuse: refuseInstance,
		Export:   kind.Export[*v1alpha1.EC2Instance, InstanceState]{Identity: []string{"importID"}, Spec: exportedInstance, Separate: i.separateSettings()},
		Roles:    kind.Roles[InstanceState]{Read: i.rolesOf},
		Describe: kind.Read[InstanceState]{Actions: []string{"ec2:DescribeInstances", "ec2:DescribeIamInstanceProfileAssociations", "iam:GetInstanceProfile"}, Do: i.describe},
		Create:   kind.Call[InstanceState]{Action: "ec2:RunInstances", DoForID: i.run},
		Tagging:  tagging(i.api, func(s InstanceState) string { return s.ID }),
		Parts:    i.parts(),
		Holds:    i.hold, HoldsReads: []string{"ec2:DescribeInstanceAttribute"},
		Delete: []kind.Ending[InstanceState]{
			{When: func(want, have InstanceState) bool { return aws.ToBool(have.DisableAPITermination) }, Call: i.modify(protect)},
			{Call: onInstance("ec2:TerminateInstances", kind.Deletes, i.api.TerminateInstances)},
		},
		Stop: []kind.Ending[InstanceState]{{When: func(_, have InstanceState) bool { return !have.isStopped() }, Call: i.stop()}},
	})
}

// run sends the token of the attempt: EC2 answers a repeated request with the instance that it made before.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_RunInstances.html
func (i *instance) run(ctx context.Context, want InstanceState, token string) (string, error) {
	in := &ec2.RunInstancesInput{MinCount: aws.Int32(1), MaxCount: aws.Int32(1), ClientToken: &token, ImageId: want.ImageID, InstanceType: types.InstanceType(*want.InstanceType),
		KeyName: want.KeyName, SubnetId: want.SubnetID, SecurityGroupIds: want.SecurityGroups, BlockDeviceMappings: want.Devices,
		DisableApiTermination: want.DisableAPITermination, EbsOptimized: want.EBSOptimized,
		Placement: &types.Placement{AvailabilityZone: want.Zone}, Monitoring: &types.RunInstancesMonitoringEnabled{Enabled: kind.NonNil(want.Monitoring)},
		MetadataOptions:   kind.Convert[*types.InstanceMetadataOptionsRequest](*metadataChange(want, InstanceState{})),
		TagSpecifications: append(tagSpecification(types.ResourceTypeInstance, want.Tags), tagSpecification(types.ResourceTypeVolume, want.Tags)...)}
	if kind.NonEmpty(want.Profile) != nil {
		in.IamInstanceProfile = profile(want)
	}
	if want.UserData != nil {
		in.UserData = aws.String(base64.StdEncoding.EncodeToString([]byte(want.UserData.Value())))
	}
	out, err := i.api.RunInstances(ctx, in)
	if err != nil || len(out.Instances) == 0 {
		return "", err
	}
	return aws.ToString(out.Instances[0].InstanceId), nil
}

func profile(want InstanceState) *types.IamInstanceProfileSpecification {
	return &types.IamInstanceProfileSpecification{Name: want.Profile}
}

// parts are the settings that can be changed. Settings that EC2 changes only on a stopped instance follow the stop and precede the start;
// while the instance is still stopping, EC2 refuses them.
func (i *instance) parts() []kind.Part[InstanceState] {
	whileStopped := func(field string, set func(*attribute, InstanceState)) kind.Part[InstanceState] {
		return kind.Part[InstanceState]{Fields: []string{field}, InCreate: true, Write: i.modify(set), Stage: func(_, have InstanceState) int { return kind.Either(have.isStopped(), 0, 1) }}
	}
	return []kind.Part[InstanceState]{
		{Fields: []string{"Power"}, When: func(want, _ InstanceState) bool { return aws.ToString(want.Power) == stopped }, Write: i.stop()},
		{Fields: []string{"Power"}, When: func(want, _ InstanceState) bool { return aws.ToString(want.Power) == running }, Default: func(InstanceState) bool { return true },
			Stage: func(_, _ InstanceState) int { return 2 }, Write: onInstance("ec2:StartInstances", kind.Sets, i.api.StartInstances)},
		whileStopped("InstanceType", func(in *attribute, want InstanceState) {
			in.InstanceType = &types.AttributeValue{Value: want.InstanceType}
		}),
		whileStopped("EBSOptimized", func(in *attribute, want InstanceState) {
			in.EbsOptimized = &types.AttributeBooleanValue{Value: want.EBSOptimized}
		}),
		whileStopped("UserData", func(in *attribute, want InstanceState) {
			in.UserData = &types.SecureBlobAttributeValue{Value: []byte(want.UserData.Value())}
		}),
		{Fields: []string{"SecurityGroups"}, InCreate: true, Write: i.modify(func(in *attribute, want InstanceState) { in.Groups = want.SecurityGroups })},
		{Fields: []string{"DisableAPITermination"}, InCreate: true, Reads: "ec2:DescribeInstanceAttribute", Read: i.readProtection, Write: i.modify(protect)},
		{Fields: []string{"Metadata"}, InCreate: true, Write: kind.Call[InstanceState]{Action: "ec2:ModifyInstanceMetadataOptions", Do: kind.Send(i.api.ModifyInstanceMetadataOptions, metadataChange)}},
		{Fields: []string{"Monitoring"}, InCreate: true, Write: onInstance("ec2:MonitorInstances", kind.Sets, i.api.MonitorInstances), Clear: onInstance("ec2:UnmonitorInstances", kind.Sets, i.api.UnmonitorInstances)},
		{Fields: []string{"Profile"}, InCreate: true, When: func(_, have InstanceState) bool { return have.Profile == nil },
			Write: kind.Call[InstanceState]{Action: "ec2:AssociateIamInstanceProfile", Do: kind.Send(i.api.AssociateIamInstanceProfile, func(want, have InstanceState) *ec2.AssociateIamInstanceProfileInput {
				return &ec2.AssociateIamInstanceProfileInput{InstanceId: &have.ID, IamInstanceProfile: profile(want)}
			})}},
		{Fields: []string{"Profile"}, InCreate: true, When: func(_, have InstanceState) bool { return have.Profile != nil },
			Write: kind.Call[InstanceState]{Action: "ec2:ReplaceIamInstanceProfileAssociation", Do: kind.Send(i.api.ReplaceIamInstanceProfileAssociation, func(want, have InstanceState) *ec2.ReplaceIamInstanceProfileAssociationInput {
				return &ec2.ReplaceIamInstanceProfileAssociationInput{AssociationId: &have.Association, IamInstanceProfile: profile(want)}
			})},
			Clear: kind.Call[InstanceState]{Action: "ec2:DisassociateIamInstanceProfile", Do: kind.Send(i.api.DisassociateIamInstanceProfile, func(_, have InstanceState) *ec2.DisassociateIamInstanceProfileInput {
				return &ec2.DisassociateIamInstanceProfileInput{AssociationId: &have.Association}
			})}},
	}
}

// attribute names the attribute that a request changes.
type attribute = ec2.ModifyInstanceAttributeInput

// modify is the change of one attribute: a request names one.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_ModifyInstanceAttribute.html
func (i *instance) modify(set func(in *attribute, want InstanceState)) kind.Call[InstanceState] {
	return kind.Call[InstanceState]{Action: "ec2:ModifyInstanceAttribute", Do: kind.Send(i.api.ModifyInstanceAttribute, func(want, have InstanceState) *attribute {
		in := &attribute{InstanceId: &have.ID}
		set(in, want)
		return in
	})}
}

func protect(in *attribute, want InstanceState) {
	in.DisableApiTermination = &types.AttributeBooleanValue{Value: want.DisableAPITermination}
}

// onInstance is a call with a request that contains only instances.
func onInstance[In, Out any](action string, effect kind.Effect, op func(context.Context, *In, ...func(*ec2.Options)) (*Out, error)) kind.Call[InstanceState] {
	return kind.Call[InstanceState]{Action: action, Effect: effect, Do: kind.Send(op, func(_, have InstanceState) *In {
		return kind.Convert[*In](struct{ InstanceIds []string }{[]string{have.ID}}) //nolint:revive // a name of EC2
	})}
}

func (i *instance) stop() kind.Call[InstanceState] {
	return onInstance("ec2:StopInstances", kind.Sets, i.api.StopInstances)
}

// declaredMetadata returns the options that are managed. EC2 takes no others for an endpoint that is disabled.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_ModifyInstanceMetadataOptions.html
func declaredMetadata(in *v1alpha1.EC2MetadataOptions) v1alpha1.EC2MetadataOptions {
	out := v1alpha1.EC2MetadataOptions{HTTPTokens: aws.String(string(types.HttpTokensStateRequired))}
	if kind.Overlay(&out, in); isDisabled(out) {
		return v1alpha1.EC2MetadataOptions{HTTPEndpoint: out.HTTPEndpoint}
	}
	return out
}

func isDisabled(m v1alpha1.EC2MetadataOptions) bool {
	return aws.ToString(m.HTTPEndpoint) == string(types.InstanceMetadataEndpointStateDisabled)
}

// metadataChange names all options, so that those that are not declared stay as they are.
func metadataChange(want, have InstanceState) *ec2.ModifyInstanceMetadataOptionsInput {
	all := have.Metadata
	if kind.Overlay(&all, want.Metadata); isDisabled(all) {
		return &ec2.ModifyInstanceMetadataOptionsInput{InstanceId: &have.ID, HttpEndpoint: types.InstanceMetadataEndpointStateDisabled}
	}
	return &ec2.ModifyInstanceMetadataOptionsInput{InstanceId: &have.ID, HttpTokens: types.HttpTokensState(aws.ToString(all.HTTPTokens)), HttpEndpoint: types.InstanceMetadataEndpointState(aws.ToString(all.HTTPEndpoint)),
		HttpPutResponseHopLimit: all.HTTPPutResponseHopLimit, InstanceMetadataTags: types.InstanceMetadataTagsState(aws.ToString(all.InstanceMetadataTags))}
}

func declareInstance(sc kind.Scope, cr *v1alpha1.EC2Instance, s *InstanceState) error {
	in := cr.Spec
	subnet, err := referredID(sc, "Subnet", in.SubnetID, in.SubnetRef)
	if err != nil {
		return err
	}
	key, err := referredID(sc, "EC2KeyPair", in.KeyName, in.KeyPairRef)
	if err != nil {
		return err
	}
	if s.SecurityGroups, err = kind.ReferredIDs(sc.Lookups, "SecurityGroup", in.SecurityGroupIDs, in.SecurityGroupRefs); err != nil {
		return err
	}
	s.ImageID, s.SubnetID, s.KeyName, s.Zone = &in.ImageID, kind.NonEmpty(&subnet), kind.NonEmpty(&key), kind.NonEmpty(&in.AvailabilityZone)
	s.Power, s.InstanceType, s.Profile = in.State, &in.InstanceType, in.IAMInstanceProfile
	s.Monitoring, s.EBSOptimized = in.Monitoring, in.EBSOptimized
	s.Metadata = declaredMetadata(in.MetadataOptions)
	if in.InstanceName != "" {
		s.Tags = maps.Clone(s.Tags)
		s.Tags["Name"] = in.InstanceName
	}
	if s.Devices, err = devices(sc, in.BlockDeviceMappings); err != nil {
		return err
	}
	if kind.NonEmpty(in.IAMInstanceProfile) != nil { // a provider that allows no role at all needs no look at the profile
		if why := kind.WhyNotPassed(sc, strings.TrimSuffix(sc.Guards.RolePath, "/")+"/any"); why != "" {
			return notPassed(why)
		}
	}
	return declareUserData(sc, in, s)
}

func devices(sc kind.Scope, mappings []v1alpha1.EC2BlockDeviceMapping) ([]types.BlockDeviceMapping, error) {
	var out []types.BlockDeviceMapping
	for _, m := range mappings {
		key := m.EBS.KMSKeyID
		if m.EBS.KMSKeyRef != nil {
			target, err := sc.Ref("KMSKey", m.EBS.KMSKeyRef.Name)
			if err != nil {
				return nil, err
			}
			key = target.ARN
		}
		out = append(out, types.BlockDeviceMapping{DeviceName: &m.DeviceName, Ebs: &types.EbsBlockDevice{VolumeSize: &m.EBS.VolumeSize, VolumeType: types.VolumeType(m.EBS.VolumeType),
			Iops: m.EBS.IOPS, Throughput: m.EBS.Throughput, DeleteOnTermination: m.EBS.DeleteOnTermination, Encrypted: m.EBS.Encrypted, KmsKeyId: kind.NonEmpty(&key)}})
	}
	return out, nil
}

// maxUserData is the limit of EC2, before the encoding.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/user-data.html
const maxUserData = 16384

// declareUserData reads the Secret. User data may be secret in any case, so that it is never read back.
func declareUserData(sc kind.Scope, in v1alpha1.EC2InstanceSpec, s *InstanceState) error {
	const field = "spec.userDataSecretRef"
	ref := in.UserDataSecretRef
	if in.UserData != "" {
		s.UserData = kind.NewWriteOnly(sc.UID, in.UserData)
	}
	if ref == nil {
		return nil
	}
	if ref.Namespace != "" && ref.Namespace != sc.Namespace {
		return &status.Stalled{Reason: status.ReasonNotPermitted, Field: field + ".namespace", Message: "must be the object's own namespace"}
	}
	data, err := sc.Secret(ref.Name, ref.Key)
	if err == nil && (len(data) == 0 || len(data) > maxUserData) {
		err = status.Invalid(field, "the value in key %s of Secret %s has %d bytes: user data has 1 to %d", ref.Key, ref.Name, len(data), maxUserData)
	}
	s.UserData = kind.NewWriteOnly(sc.UID, string(data))
	return err
}

func (s InstanceState) isStopped() bool { return s.State == types.InstanceStateNameStopped }

func publishInstance(cr *v1alpha1.EC2Instance, s InstanceState) {
	st := &cr.Status
	st.ID, st.ARN, st.InstanceID, st.InstanceState = s.ID, s.arn(), s.ID, string(s.State)
	st.PrivateIP, st.PublicIP, st.PrivateDNS, st.PublicDNS = s.PrivateIP, s.PublicIP, s.PrivateDNS, s.PublicDNS
	st.VPCID, st.SubnetID, st.AvailabilityZone = s.VPCID, aws.ToString(s.SubnetID), aws.ToString(s.Zone)
	st.LaunchTime = &metav1.Time{Time: s.Launched}
}

func (i *instance) describe(ctx context.Context, want InstanceState, look kind.Look) (kind.Seen[InstanceState], error) {
	d, ended, duplicates, err := i.find(ctx, want, look.Check)
	seen := kind.Seen[InstanceState]{Duplicates: duplicates}
	switch {
	case err != nil || d == nil && look.Deleting:
		return kind.Seen[InstanceState]{}, err
	case d == nil:
		return kind.Seen[InstanceState]{}, i.checkLaunch(ctx, want, ended)
	}
	seen.Exists, seen.State, seen.Tags = true, seenInstance(want, *d), kind.TagMap(d.Tags)
	if s := seen.State.State; slices.Contains(passingStates, s) && (!look.Deleting || want.Stops || s == types.InstanceStateNameShuttingDown) {
		seen.Busy = "the instance is " + string(s)
	}
	if look.Deleting {
		return seen, nil
	}
	seen.Busy = cmp.Or(seen.Busy, kind.BusyUnless("the instance", seen.State.State, types.InstanceStateNameRunning, types.InstanceStateNameStopped),
		kind.BusyUnless("the monitoring of the instance", kind.NonNil(d.Monitoring).State, types.MonitoringState("").Values()...))
	kind.FalseIfAbsent(&seen.State.EBSOptimized)
	return seen, i.readProfile(ctx, want, &seen.State)
}

// passingStates end automatically. EC2 terminates an instance in any of them, but stops and changes none. Read only.
var passingStates = []types.InstanceStateName{types.InstanceStateNamePending, types.InstanceStateNameStopping, types.InstanceStateNameShuttingDown}

// find returns the object's instance, nil when there is none, the one that the recorded identifier names if it was terminated,
// and duplicates.
func (i *instance) find(ctx context.Context, want InstanceState, check *kind.Check) (d, ended *types.Instance, duplicates []string, err error) {
	list := func(ctx context.Context, ids []string, filters []types.Filter) ([]types.Instance, error) {
		all, err := i.list(ctx, ids, filters)
		// EC2 describes terminated instances for about an hour.
		// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-instance-lifecycle.html
		if over := slices.IndexFunc(all, isTerminated); over >= 0 && len(ids) > 0 {
			ended = kind.Ptr(all[over])
		}
		return slices.DeleteFunc(all, isTerminated), err
	}
	instances := description[types.Instance]{filter: "instance-id", batch: &i.batch, list: list, of: func(d types.Instance) (id, account *string, tags []types.Tag) { return d.InstanceId, nil, d.Tags }}
	d, duplicates, err = instances.find(ctx, want.Resource, check)
	return d, ended, duplicates, err
}

func (i *instance) list(ctx context.Context, ids []string, filters []types.Filter) ([]types.Instance, error) {
	in := &ec2.DescribeInstancesInput{InstanceIds: ids, Filters: filters}
	return kind.Pages(ctx, i.api.DescribeInstances, in, &in.NextToken, func(out *ec2.DescribeInstancesOutput) ([]types.Instance, *string) {
		var all []types.Instance
		for _, r := range out.Reservations {
			all = append(all, r.Instances...)
		}
		return all, out.NextToken
	})
}

func isTerminated(d types.Instance) bool {
	return kind.NonNil(d.State).Name == types.InstanceStateNameTerminated
}

// seenInstance returns the state of a described instance. Its launch time is no creation time: each start changes it.
func seenInstance(want InstanceState, d types.Instance) InstanceState {
	s := InstanceState{Resource: Resource{ARNPrefix: want.ARNPrefix, ID: aws.ToString(d.InstanceId)}, State: kind.NonNil(d.State).Name, VPCID: aws.ToString(d.VpcId), Launched: aws.ToTime(d.LaunchTime),
		PrivateIP: aws.ToString(d.PrivateIpAddress), PublicIP: aws.ToString(d.PublicIpAddress), PrivateDNS: aws.ToString(d.PrivateDnsName), PublicDNS: aws.ToString(d.PublicDnsName),
		ImageID: d.ImageId, SubnetID: d.SubnetId, KeyName: d.KeyName, Zone: kind.NonNil(d.Placement).AvailabilityZone,
		InstanceType: kind.Ptr(string(d.InstanceType)), EBSOptimized: d.EbsOptimized}
	s.Power = kind.Ptr(kind.Either(s.isStopped() || s.State == types.InstanceStateNameStopping, stopped, running))
	if m := d.MetadataOptions; m != nil {
		s.Metadata = v1alpha1.EC2MetadataOptions{HTTPTokens: kind.Ptr(string(m.HttpTokens)), HTTPEndpoint: kind.Ptr(string(cmp.Or(m.HttpEndpoint, types.InstanceMetadataEndpointStateEnabled))),
			HTTPPutResponseHopLimit: m.HttpPutResponseHopLimit, InstanceMetadataTags: kind.Ptr(string(cmp.Or(m.InstanceMetadataTags, types.InstanceMetadataTagsStateDisabled)))}
	}
	if m := d.Monitoring; m != nil {
		s.Monitoring = aws.Bool(m.State == types.MonitoringStateEnabled || m.State == types.MonitoringStatePending)
	}
	if p := d.IamInstanceProfile; p != nil {
		arn := aws.ToString(p.Arn)
		s.Profile = aws.String(arn[strings.LastIndex(arn, "/")+1:])
	}
	for _, g := range d.SecurityGroups {
		s.SecurityGroups = append(s.SecurityGroups, aws.ToString(g.GroupId))
	}
	return s
}

// launchFailures are the reasons of EC2 to terminate an instance that it could not launch. Read only.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_StateReason.html
var launchFailures = []string{"Server.InsufficientInstanceCapacity", "Server.InternalError", "Client.InternalError", "Client.InvalidSnapshot.NotFound", "Client.VolumeLimitExceeded"}

// likelyCauses adds causes that EC2's own words leave out. Read only.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/troubleshooting-launch.html
var likelyCauses = map[string]string{
	"Client.InternalError": ": the operator may not use the KMS key of a volume, or the one of the account's default encryption: allow kms:CreateGrant, kms:Decrypt, kms:DescribeKey, kms:GenerateDataKeyWithoutPlaintext and kms:ReEncrypt* on it",
}

// explainLaunch reports an instance that EC2 could not launch; nil for all others.
func explainLaunch(d *types.Instance) error {
	reason := kind.NonNil(kind.NonNil(d).StateReason)
	if !slices.Contains(launchFailures, aws.ToString(reason.Code)) {
		return nil
	}
	return &status.Stalled{Reason: status.ReasonRefusedByAWS, Message: fmt.Sprintf(
		"AWS failed to launch instance %s: %s%s; remove the cause, and delete this object and create it again; or set recreateOnLoss: true: the operator then launches another instance once EC2 forgets this one, after about an hour",
		aws.ToString(d.InstanceId), aws.ToString(reason.Message), likelyCauses[aws.ToString(reason.Code)])}
}

// checkLaunch checks the preconditions of the launch of an instance: an earlier one that failed, and the instance profile.
func (i *instance) checkLaunch(ctx context.Context, want InstanceState, ended *types.Instance) error {
	if err := explainLaunch(ended); err != nil || want.Search.Imported {
		return err
	}
	var none InstanceState
	err := i.readProfile(ctx, want, &none)
	if _, waiting := status.AsWaiting(err); waiting && want.Search.ID != "" {
		return nil // the instance is lost, whether its profile is or not
	}
	if err != nil {
		return err
	}
	return none.Refusal
}

// readProfile reads the data for a change of the instance profile: the association that it replaces, and whether the provider lets its role
// be given to an instance. A tenant would otherwise act with the rights of any role that has a profile.
func (i *instance) readProfile(ctx context.Context, want InstanceState, have *InstanceState) error {
	if want.Profile == nil || *want.Profile == aws.ToString(have.Profile) {
		return nil
	}
	if have.Profile != nil {
		if err := i.readAssociation(ctx, have); err != nil {
			return err
		}
	}
	if *want.Profile == "" {
		return nil
	}
	out, err := awsclient.Lookup(ctx, i.iam.GetInstanceProfile, &iam.GetInstanceProfileInput{InstanceProfileName: want.Profile})
	switch {
	case err != nil:
		return err
	case out == nil || out.InstanceProfile == nil:
		return &status.Waiting{Reason: status.ReasonWaiting, For: "the instance profile " + *want.Profile + " to exist", After: gatewayInterval}
	}
	if len(out.InstanceProfile.Roles) == 0 { // the instance would get whatever role a person adds later
		return &status.Waiting{Reason: status.ReasonWaiting, For: "the instance profile " + *want.Profile + " to have a role", After: gatewayInterval}
	}
	have.Refusal = whyNotGiven(want, out.InstanceProfile.Roles)
	return nil
}

// readAssociation finds the association of the present profile with the instance.
func (i *instance) readAssociation(ctx context.Context, have *InstanceState) error {
	out, err := i.api.DescribeIamInstanceProfileAssociations(ctx, &ec2.DescribeIamInstanceProfileAssociationsInput{Filters: []types.Filter{{Name: aws.String("instance-id"), Values: []string{have.ID}}}})
	if err != nil {
		return err
	}
	for _, a := range out.IamInstanceProfileAssociations {
		if a.State != types.IamInstanceProfileAssociationStateDisassociated {
			have.Association = aws.ToString(a.AssociationId)
		}
	}
	return nil
}

// rolesOf reads the roles of the profile that an instance has, also of one that is declared: no change leads to a look at them.
func (i *instance) rolesOf(ctx context.Context, have InstanceState) ([]string, error) {
	if have.Profile == nil {
		return nil, nil
	}
	out, err := awsclient.Lookup(ctx, i.iam.GetInstanceProfile, &iam.GetInstanceProfileInput{InstanceProfileName: have.Profile})
	if err != nil || out == nil || out.InstanceProfile == nil || len(out.InstanceProfile.Roles) == 0 {
		return []string{"of instance profile " + *have.Profile + ", which is not known"}, err
	}
	var roles []string
	for _, role := range out.InstanceProfile.Roles {
		roles = append(roles, aws.ToString(role.Arn))
	}
	return roles, nil
}

// whyNotGiven returns why the provider does not let the roles of a profile be given to an instance; nil where it does.
func whyNotGiven(want InstanceState, roles []iamtypes.Role) error {
	guards := kind.Scope{Place: kind.Place{Account: want.Account}, Guards: kind.RoleGuards{RolePath: want.RolePath, Boundary: want.Boundary}}
	for _, role := range roles {
		if why := kind.WhyNotPassed(guards, aws.ToString(role.Arn)); why != "" {
			return notPassed(why + ", and its role is " + aws.ToString(role.Arn))
		}
	}
	return nil
}

func notPassed(why string) error {
	return &status.Stalled{Reason: status.ReasonNotPermitted, Field: "spec.iamInstanceProfile", Message: why + ": name an instance profile whose role is allowed, or remove the field"}
}

// refuseInstance refuses a profile that is not allowed, and changes that need a stop that is not declared.
func refuseInstance(want, have InstanceState, diff kind.Diff) error {
	if diff.Under("Profile") && have.Refusal != nil {
		return have.Refusal
	}
	if have.isStopped() || aws.ToString(want.Power) == stopped {
		return nil
	}
	for _, f := range [][2]string{{"InstanceType", "instanceType"}, {"EBSOptimized", "ebsOptimized"}, {"UserData", "userData"}} {
		if diff.Under(f[0]) {
			return status.Invalid("spec."+f[1], "EC2 changes it only on a stopped instance, and the operator does not stop the instance for it: declare state: Stopped with the change, and state: Running once it is made; or restore the value")
		}
	}
	return nil
}

func (i *instance) readProtection(ctx context.Context, _ InstanceState, have *InstanceState) error {
	out, err := i.api.DescribeInstanceAttribute(ctx, &ec2.DescribeInstanceAttributeInput{InstanceId: &have.ID, Attribute: types.InstanceAttributeNameDisableApiTermination})
	if err == nil {
		have.DisableAPITermination = kind.NonNil(kind.NonNil(out.DisableApiTermination).Value)
	}
	return err
}

// hold keeps an instance that is protected from termination, unless the spec consents to lift the protection.
func (i *instance) hold(ctx context.Context, want InstanceState, seen *kind.Seen[InstanceState]) error {
	if want.Stops || seen.Busy != "" {
		return nil
	}
	err := i.readProtection(ctx, want, &seen.State)
	if lifts := want.DisableAPITermination != nil && !*want.DisableAPITermination; err == nil && *seen.State.DisableAPITermination && !lifts {
		seen.Holds = []kind.Hold{{Reason: status.ReasonDeletionProtected, Message: "the termination protection of the instance to be removed: set disableApiTermination: false to terminate the instance, " +
			"deletionPolicy: Stop to stop it and keep it, or deletionPolicy: Retain to keep it as it is"}}
	}
	return err
}
