// SPDX-License-Identifier: Apache-2.0

package ec2

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/emulator/proxy"
)

// instance holds the state of an instance that moto lacks.
type instance struct {
	// passing is the state that it has for a time since then.
	passing string
	since   time.Time
	// monitoring is the state that a request has set.
	monitoring string
}

// SetInstancesTake lets instances be pending for so long after they were launched or started, stopping after they were
// stopped, and shutting-down after they were terminated. Zero ends it.
func (s *Service) SetInstancesTake(d time.Duration) { s.Locked(func() { s.instancesTake = d }) }

// instanceOf returns the extra state of an instance.
func (s *Service) instanceOf(x *proxy.Exchange, id string) *instance {
	key := s.Identity(x, "ec2", id)
	if s.instances[key] == nil {
		s.instances[key] = &instance{}
	}
	return s.instances[key]
}

// shown is the state that AWS shows where moto shows another.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-instance-lifecycle.html
func (i *instance) shown(moto string, now time.Time, takes time.Duration) string {
	if i.passing != "" && takes > 0 && now.Sub(i.since) < takes {
		return i.passing
	}
	return moto
}

// recordLaunch: moto ignores DisableApiTermination.
func (s *Service) recordLaunch(ctx context.Context, x *proxy.Exchange, a *proxy.Answer) *proxy.Answer {
	m := instanceItem.FindSubmatch(a.Body)
	if !a.OK() || m == nil {
		return a
	}
	if x.Form.Get("DisableApiTermination") == "true" {
		if _, err := s.askEC2(ctx, x, url.Values{"Action": {"ModifyInstanceAttribute"}, "InstanceId": {string(m[1])},
			"DisableApiTermination.Value": {"true"}}); err != nil {
			return proxy.ProxyError(x, err)
		}
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	*s.instanceOf(x, string(m[1])) = instance{passing: "pending", since: s.Now()}
	if token := x.Form.Get("ClientToken"); token != "" {
		s.made[s.Identity(x, "ec2", token)] = a.Clone()
	}
	return a
}

// stoppedOnly are the attributes that AWS changes only on a stopped instance.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_ModifyInstanceAttribute.html
var stoppedOnly = []string{"InstanceType.Value", "EbsOptimized.Value", "UserData.Value"}

// refuseByInstanceState: moto starts, stops and changes instances in every state.
func (s *Service) refuseByInstanceState(ctx context.Context, x *proxy.Exchange) *proxy.Answer {
	a, err := s.askEC2(ctx, x, url.Values{"Action": {"DescribeInstances"}, "InstanceId.1": {x.Resource}})
	if err != nil {
		return nil // moto refuses unknown ones
	}
	m := instanceItem.FindSubmatch(a.Body)
	if m == nil {
		return nil
	}
	s.Mu.Lock()
	state := s.instanceOf(x, x.Resource).shown(string(m[3]), s.Now(), s.instancesTake)
	s.Mu.Unlock()
	refused := x.Op == "StartInstances" && state != "stopped" && state != "running" && state != "pending" ||
		x.Op == "StopInstances" && state != "stopped" && state != "running" && state != "stopping"
	for _, attribute := range stoppedOnly {
		refused = refused || x.Form.Has(attribute) && state != "stopped"
	}
	if refused {
		return x.Refuse(http.StatusBadRequest, "IncorrectInstanceState", "The instance '"+x.Resource+"' is not in the 'stopped' state.")
	}
	if data := x.Form.Get("UserData.Value"); data != "" {
		return s.changeUserData(ctx, x, data)
	}
	return nil
}

// changeUserData: moto decodes user data twice.
func (s *Service) changeUserData(ctx context.Context, x *proxy.Exchange, data string) *proxy.Answer {
	form := maps.Clone(x.Form)
	form.Set("UserData.Value", base64.StdEncoding.EncodeToString([]byte(data)))
	a, err := s.askEC2(ctx, x, form)
	if err != nil {
		return proxy.ProxyError(x, err)
	}
	return a
}

// passingStates are the states between those that moto shows.
var passingStates = map[string]string{"StartInstances": "pending", "StopInstances": "stopping", "TerminateInstances": "shutting-down"}

// recordInstanceState: moto changes states at once, and keeps the network interfaces of terminated instances.
func (s *Service) recordInstanceState(ctx context.Context, x *proxy.Exchange, a *proxy.Answer) *proxy.Answer {
	if !a.OK() {
		return a
	}
	s.Mu.Lock()
	i := s.instanceOf(x, x.Resource)
	i.passing, i.since = passingStates[x.Op], s.Now()
	s.Mu.Unlock()
	if x.Op != "TerminateInstances" {
		return a
	}
	listed, err := s.askEC2(ctx, x, url.Values{"Action": {"DescribeNetworkInterfaces"}})
	var found struct {
		Interfaces []struct {
			ID       string `xml:"networkInterfaceId"`
			Instance string `xml:"attachment>instanceId"`
		} `xml:"networkInterfaceSet>item"`
	}
	if err == nil {
		err = xml.Unmarshal(listed.Body, &found)
	}
	for _, nic := range found.Interfaces {
		if err == nil && nic.Instance == x.Resource {
			_, err = s.askEC2(ctx, x, url.Values{"Action": {"DeleteNetworkInterface"}, "NetworkInterfaceId": {nic.ID}})
		}
	}
	if err != nil {
		return proxy.ProxyError(x, err)
	}
	return a
}

// monitorInstances: moto implements neither operation.
func (s *Service) monitorInstances(ctx context.Context, x *proxy.Exchange) *proxy.Answer {
	if _, err := s.askEC2(ctx, x, url.Values{"Action": {"DescribeInstances"}, "InstanceId.1": {x.Resource}}); err != nil {
		return proxy.NotFoundAnswer(x.Request)
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	i, passing := s.instanceOf(x, x.Resource), "pending"
	if i.monitoring = "enabled"; x.Op == "UnmonitorInstances" {
		i.monitoring, passing = "disabled", "disabling"
	}
	return &proxy.Answer{Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/xml"}}, Body: fmt.Appendf(nil,
		`<%[1]sResponse xmlns="http://ec2.amazonaws.com/doc/%[2]s/"><instancesSet><item><instanceId>%[3]s</instanceId><monitoring><state>%[4]s</state></monitoring></item></instancesSet></%[1]sResponse>`,
		x.Op, ec2Version, x.Resource, passing)}
}

var instanceOfAssociation = regexp.MustCompile(`<instanceId>(i-[0-9a-f]+)</instanceId>`)

// replaceProfile: moto replaces the profile of the association and not that of the instance.
func (s *Service) replaceProfile(ctx context.Context, x *proxy.Exchange) *proxy.Answer {
	association := x.Form.Get("AssociationId")
	a, err := s.askEC2(ctx, x, url.Values{"Action": {"DescribeIamInstanceProfileAssociations"}, "AssociationId.1": {association}})
	if err != nil {
		return proxy.ProxyError(x, err)
	}
	m := instanceOfAssociation.FindSubmatch(a.Body)
	if m == nil {
		return nil // moto refuses unknown ones
	}
	form := url.Values{"Action": {"AssociateIamInstanceProfile"}, "InstanceId": {string(m[1])},
		"IamInstanceProfile.Name": {x.Form.Get("IamInstanceProfile.Name")}}
	if _, err = s.askEC2(ctx, x, url.Values{"Action": {"DisassociateIamInstanceProfile"}, "AssociationId": {association}}); err == nil {
		a, err = s.askEC2(ctx, x, form)
	}
	if err != nil {
		return proxy.ProxyError(x, err)
	}
	return a.WithBody(bytes.ReplaceAll(a.Body, []byte("AssociateIamInstanceProfileResponse"), []byte(x.Op+"Response")))
}

// instanceItem is an instance in an answer of moto: its identifier, its AMI, its state, more, and its monitoring.
var instanceItem = regexp.MustCompile(`(?s)<instanceId>(i-[0-9a-f]+)</instanceId>(<imageId>[^<]*</imageId>)<instanceState><code>\d+</code><name>([a-z-]+)</name></instanceState>(.*?)<monitoring><state>([a-z]+)</state></monitoring>`)

// instanceCodes are the numbers of the states.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_InstanceState.html
var instanceCodes = map[string]int{"pending": 0, "running": 16, "shutting-down": 32, "terminated": 48, "stopping": 64, "stopped": 80}

// showInstances: moto shows no states that pass, and the monitoring of the launch.
func (s *Service) showInstances(_ context.Context, x *proxy.Exchange, a *proxy.Answer) *proxy.Answer {
	if !a.OK() {
		return a
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return a.WithBody(instanceItem.ReplaceAllFunc(a.Body, func(item []byte) []byte {
		m := instanceItem.FindSubmatch(item)
		i, monitoring := s.instanceOf(x, string(m[1])), string(m[5])
		state := i.shown(string(m[3]), s.Now(), s.instancesTake)
		if i.monitoring != "" {
			monitoring = i.monitoring
		}
		return fmt.Appendf(nil, "<instanceId>%s</instanceId>%s<instanceState><code>%d</code><name>%s</name></instanceState>%s<monitoring><state>%s</state></monitoring>",
			m[1], m[2], instanceCodes[state], state, m[4], monitoring)
	}))
}

// refuseMetadataOptions: "If you specify a value for HttpTokens, HttpEndpoint must be enabled".
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_ModifyInstanceMetadataOptions.html
func (s *Service) refuseMetadataOptions(_ context.Context, x *proxy.Exchange) *proxy.Answer {
	get := func(name string) string { return x.Form.Get(name) + x.Form.Get("MetadataOptions."+name) }
	if get("HttpEndpoint") == "disabled" && get("HttpTokens")+get("HttpPutResponseHopLimit")+get("InstanceMetadataTags") != "" {
		return x.Refuse(http.StatusBadRequest, "InvalidParameterCombination", "These parameters are not allowed unless HttpEndpoint is enabled.")
	}
	return nil
}
