// SPDX-License-Identifier: Apache-2.0

package emulator_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/nexus-operator/nexus-operator/internal/testkit/must"
)

// server is an instance.
type server struct {
	*testing.T
	*ec2.Client
	subnet *string
	id     string
}

func newServer(t *testing.T, c *ec2.Client) *server {
	t.Helper()
	subnet, err := c.CreateSubnet(t.Context(), &ec2.CreateSubnetInput{VpcId: newVPC(t, c), CidrBlock: aws.String("10.0.1.0/24")})
	must.Succeed(t, err)
	s := &server{T: t, Client: c, subnet: subnet.Subnet.SubnetId}
	s.id = s.run("one")
	return s
}

func (s *server) run(token string) string {
	s.Helper()
	made, err := s.RunInstances(s.Context(),
		&ec2.RunInstancesInput{ImageId: aws.String("ami-12c6146b"), InstanceType: types.InstanceTypeT3Micro, MinCount: aws.Int32(1),
			MaxCount: aws.Int32(1),
			SubnetId: s.subnet, ClientToken: &token, DisableApiTermination: aws.Bool(true)})
	must.Succeed(s.T, err)
	return *made.Instances[0].InstanceId
}

func (s *server) described() types.Instance {
	s.Helper()
	out, err := s.DescribeInstances(s.Context(), &ec2.DescribeInstancesInput{InstanceIds: []string{s.id}})
	must.Succeed(s.T, err)
	return out.Reservations[0].Instances[0]
}

// is asserts the state.
func (s *server) is(want types.InstanceStateName) {
	s.Helper()
	if got := s.described().State.Name; got != want {
		s.Errorf("the instance is %s, want %s", got, want)
	}
}

func (s *server) change(in ec2.ModifyInstanceAttributeInput) error {
	in.InstanceId = &s.id
	_, err := s.ModifyInstanceAttribute(s.Context(), &in)
	return err
}

// A request with the token of an earlier one is answered with its result.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/Run_Instance_Idempotency.html
func TestARepeatedRequestLaunchesNoSecondInstance(t *testing.T) {
	s := newServer(t, ec2.NewFromConfig(config(proxy(t).URL())))
	if again := s.run("one"); again != s.id {
		t.Errorf("the same token launched %s and %s", s.id, again)
	}
	if other := s.run("other"); other == s.id {
		t.Error("another token launched no instance")
	}
}

// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-instance-lifecycle.html
func TestInstancesTakeTheirTime(t *testing.T) {
	p := proxy(t)
	now := time.Now()
	p.SetClock(func() time.Time { return now })
	p.EC2.SetInstancesTake(time.Minute)
	s := newServer(t, ec2.NewFromConfig(config(p.URL())))
	s.is(types.InstanceStateNamePending)
	stop := func() error {
		_, err := s.StopInstances(t.Context(), &ec2.StopInstancesInput{InstanceIds: []string{s.id}})
		return err
	}
	if err := stop(); code(err) != "IncorrectInstanceState" {
		t.Errorf("a pending instance was stopped: %v", err)
	}
	now = now.Add(time.Minute)
	s.is(types.InstanceStateNameRunning)
	small := ec2.ModifyInstanceAttributeInput{InstanceType: &types.AttributeValue{Value: aws.String("t3.small")}}
	if err := s.change(small); code(err) != "IncorrectInstanceState" {
		t.Errorf("the type of a running instance was changed: %v", err)
	}
	must.Succeed(t, stop())
	s.is(types.InstanceStateNameStopping)
	if _, err := s.StartInstances(t.Context(), &ec2.StartInstancesInput{InstanceIds: []string{s.id}}); code(err) != "IncorrectInstanceState" {
		t.Errorf("a stopping instance was started: %v", err)
	}
	now = now.Add(time.Minute)
	s.is(types.InstanceStateNameStopped)
	must.Succeed(t, s.change(small))
	must.Succeed(t, s.change(ec2.ModifyInstanceAttributeInput{UserData: &types.SecureBlobAttributeValue{Value: []byte("#!/bin/sh")}}))
	if got := s.described().InstanceType; got != types.InstanceTypeT3Small {
		t.Errorf("the type is %s", got)
	}
	terminate := func() error {
		_, err := s.TerminateInstances(t.Context(), &ec2.TerminateInstancesInput{InstanceIds: []string{s.id}})
		return err
	}
	if err := terminate(); code(err) != "OperationNotPermitted" {
		t.Errorf("a protected instance was terminated: %v", err)
	}
	must.Succeed(t, s.change(ec2.ModifyInstanceAttributeInput{DisableApiTermination: &types.AttributeBooleanValue{Value: aws.Bool(false)}}))
	must.Succeed(t, terminate())
	s.is(types.InstanceStateNameShuttingDown)
	now = now.Add(time.Minute)
	s.is(types.InstanceStateNameTerminated)
	if _, err := s.DeleteSubnet(t.Context(), &ec2.DeleteSubnetInput{SubnetId: s.subnet}); err != nil {
		t.Errorf("the network interface of a terminated instance is kept: %v", err)
	}
}

func TestMonitoringOfInstances(t *testing.T) {
	s := newServer(t, ec2.NewFromConfig(config(proxy(t).URL())))
	_, err := s.MonitorInstances(t.Context(), &ec2.MonitorInstancesInput{InstanceIds: []string{s.id}})
	must.Succeed(t, err)
	if got := s.described().Monitoring.State; got != types.MonitoringStateEnabled {
		t.Errorf("monitoring is %s", got)
	}
	_, err = s.UnmonitorInstances(t.Context(), &ec2.UnmonitorInstancesInput{InstanceIds: []string{s.id}})
	must.Succeed(t, err)
	if got := s.described().Monitoring.State; got != types.MonitoringStateDisabled {
		t.Errorf("monitoring is %s", got)
	}
	if _, err := s.MonitorInstances(t.Context(),
		&ec2.MonitorInstancesInput{InstanceIds: []string{"i-0123456789abcdef0"}}); code(err) != "InvalidInstanceID.NotFound" {
		t.Errorf("an unknown instance: %v", err)
	}
}
