// SPDX-License-Identifier: Apache-2.0

// Package logs holds the emulator's facts and corrections for Amazon CloudWatch Logs.
package logs

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/emulator/proxy"
)

// Service holds the settings of log groups that moto lacks.
type Service struct {
	proxy.Base
	groups          map[string]*group // by identity
	retentionPolicy string            // of the account; empty for none
	retentionDays   int
}

// group holds the settings of a log group that moto forgets.
type group struct {
	class, key  string
	isProtected bool
}

const target = "Logs_20140328."

// Facts returns all that the proxy asks of the service.
func (s *Service) Facts() *proxy.Facts {
	return &proxy.Facts{
		Prefix: "logs",
		Requests: proxy.RequestFacts{Keys: []string{"LogGroupName", "logGroupName", "logGroupNamePrefix", "logGroupIdentifier"},
			ShortName: func(name string) string { return strings.TrimSuffix(strings.TrimPrefix(name, "log-group:"), ":*") }},
		Errors: proxy.ErrorFacts{
			Missing: map[string]proxy.Error{"": {Status: http.StatusBadRequest, Code: proxy.ResourceNotFound,
				Message: "The specified log group does not exist."}},
			IsGone: func(d *proxy.Request, a *proxy.Answer) bool {
				return d.Op == "DescribeLogGroups" && d.Resource != "" && !lists(a, d.Resource)
			},
			Answer: func(d *proxy.Request, a *proxy.Answer) *proxy.Answer {
				if d.Op == "DescribeLogGroups" {
					return proxy.JSONAnswer(map[string]any{"logGroups": []any{}})
				}
				return a
			},
		},
		Writes: proxy.WriteFacts{TagReads: []proxy.TagRead{{Op: "ListTags*", Where: "tags"}}},
		Names: map[string]proxy.NameRule{"CreateLogGroup": {Member: "logGroupName", Min: 1, Max: 512,
			Pattern: regexp.MustCompile(`^[\.\-_/#A-Za-z0-9]+$`), Code: "InvalidParameterException"}},
		CheckName: func(x *proxy.Exchange) *proxy.Answer {
			if x.Op != "CreateLogGroup" || !strings.HasPrefix(x.Resource, "aws/") {
				return nil
			}
			return x.Refuse(http.StatusBadRequest, "InvalidParameterException", "Log groups starting with aws/ are reserved for AWS.")
		},
		Rights: proxy.RightFacts{
			Namings:    map[string]proxy.Naming{"logs log-group:*": {Members: []string{"logGroupName", "logGroupIdentifier"}}},
			Dependents: []proxy.Dependent{proxy.Tagging("logs:CreateLogGroup", "logs:TagResource", "logs log-group:*")},
		},
		Inventory: []proxy.InventoryKind{{Name: "logs/log-group", Global: false,
			List: proxy.ListJSON("logs", target+"DescribeLogGroups", "logGroups", "logGroupName")}},
		Pages: [2]string{"nextToken", "nextToken"},
	}
}

// Corrections returns the deviations of moto that the service makes up for.
func (s *Service) Corrections() []proxy.Correction {
	return []proxy.Correction{
		{Name: "protected log groups", Ops: []string{"DeleteLogGroup"}, Before: s.refuseDeletion},
		{Name: "settings of log groups", Ops: []string{"AssociateKmsKey", "DisassociateKmsKey", "PutLogGroupDeletionProtection"}, Instead: s.set},
		{Name: "settings of new log groups", Ops: []string{"CreateLogGroup"}, After: s.create},
		{Name: "tags of deleted log groups", Ops: []string{"DeleteLogGroup"}, After: s.forget},
		{Name: "descriptions of log groups", Ops: []string{"DescribeLogGroups"}, After: s.show},
	}
}

// Reset forgets the state.
func (s *Service) Reset() {
	s.Locked(func() { s.groups, s.retentionPolicy, s.retentionDays = map[string]*group{}, "", 0 })
}

// SetRetentionPolicy lets a policy of the account decide for how many days all log groups keep their events; "" ends it.
func (s *Service) SetRetentionPolicy(name string, days int) {
	s.Locked(func() { s.retentionPolicy, s.retentionDays = name, days })
}

// of returns the settings of the log group of a request. The caller holds the lock.
func (s *Service) of(x *proxy.Exchange, name string) *group {
	id := s.Identity(x, "logs", name)
	if s.groups[id] == nil {
		s.groups[id] = &group{class: "STANDARD"}
	}
	return s.groups[id]
}

// create: moto drops the class and the deletion protection.
func (s *Service) create(_ context.Context, x *proxy.Exchange, a *proxy.Answer) *proxy.Answer {
	if !a.OK() {
		return a
	}
	s.Locked(func() {
		g := s.of(x, x.Resource)
		if class := proxy.Text(x.JSON["logGroupClass"]); class != "" {
			g.class = class
		}
		g.key = proxy.Text(x.JSON["kmsKeyId"])
		g.isProtected, _ = x.JSON["deletionProtectionEnabled"].(bool)
	})
	return a
}

// set: moto has neither keys nor deletion protections of existing log groups.
func (s *Service) set(ctx context.Context, x *proxy.Exchange) *proxy.Answer {
	a, _, err := s.AskJSON(ctx, x, "DescribeLogGroups", map[string]any{"logGroupNamePrefix": x.Resource})
	if err != nil {
		return proxy.ProxyError(x, err)
	}
	if !lists(a, x.Resource) {
		return proxy.NotFoundAnswer(x.Request)
	}
	s.Locked(func() {
		g := s.of(x, x.Resource)
		switch x.Op {
		case "PutLogGroupDeletionProtection":
			g.isProtected, _ = x.JSON["deletionProtectionEnabled"].(bool)
		default: // DisassociateKmsKey names no key
			g.key = proxy.Text(x.JSON["kmsKeyId"])
		}
	})
	return proxy.JSONAnswer(map[string]any{})
}

// refuseDeletion: moto deletes protected log groups.
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/protecting-log-groups-from-deletion.html
func (s *Service) refuseDeletion(_ context.Context, x *proxy.Exchange) *proxy.Answer {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if !s.of(x, x.Resource).isProtected {
		return nil
	}
	return x.Refuse(http.StatusBadRequest, proxy.Validation, "The log group cannot be deleted because it is protected.")
}

// forget: moto gives the tags of a deleted log group to the next one of its name.
func (s *Service) forget(ctx context.Context, x *proxy.Exchange, a *proxy.Answer) *proxy.Answer {
	if !a.OK() {
		return a
	}
	s.Locked(func() { delete(s.groups, s.Identity(x, "logs", x.Resource)) })
	arn := "arn:" + proxy.PartitionOf(x.Region) + ":logs:" + x.Region + ":" + s.AccountOf(x.AccessKey) + ":log-group:" + x.Resource
	_, found, err := s.AskJSON(ctx, x, "ListTagsForResource", map[string]any{"resourceArn": arn})
	if err != nil {
		return proxy.ProxyError(x, err)
	}
	tags, _ := found["tags"].(map[string]any)
	keys := []string{}
	for key := range tags {
		keys = append(keys, key)
	}
	if _, _, err := s.AskJSON(ctx, x, "UntagResource", map[string]any{"resourceArn": arn, "tagKeys": keys}); err != nil {
		return proxy.ProxyError(x, err)
	}
	return a
}

// show: moto shows neither the settings that it lacks nor the ARN without ":*".
func (s *Service) show(_ context.Context, x *proxy.Exchange, a *proxy.Answer) *proxy.Answer {
	body, _ := proxy.DecodeJSON(a.Body).(map[string]any)
	listed, _ := body["logGroups"].([]any)
	if !a.OK() || len(listed) == 0 {
		return a
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	for _, l := range listed {
		d, _ := l.(map[string]any)
		g := s.of(x, proxy.Text(d["logGroupName"]))
		name := strings.TrimSuffix(proxy.Text(d["arn"]), ":*")
		d["arn"], d["logGroupArn"], d["logGroupClass"], d["deletionProtectionEnabled"] = name+":*", name, g.class, g.isProtected
		if delete(d, "kmsKeyId"); g.key != "" {
			d["kmsKeyId"] = g.key
		}
		if s.retentionPolicy != "" {
			d["retentionPolicyName"], d["retentionInDays"] = s.retentionPolicy, s.retentionDays
		}
	}
	return a.WithJSON(body)
}

// lists reports whether an answer lists a log group.
func lists(a *proxy.Answer, name string) bool {
	var body struct {
		LogGroups []struct{ LogGroupName string }
	}
	if json.Unmarshal(a.Body, &body) != nil {
		return false
	}
	for _, g := range body.LogGroups {
		if g.LogGroupName == name {
			return true
		}
	}
	return false
}
