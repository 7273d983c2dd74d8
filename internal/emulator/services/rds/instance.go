// SPDX-License-Identifier: Apache-2.0

package rds

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/emulator/proxy"
)

// database holds the state of a DB instance that moto lacks.
type database struct {
	port string // that ModifyDBInstance set
	// support is the support of the engine at the end of its life, which moto does not know; empty for the default.
	support string
	// modify is a change that RDS accepted and makes later, and accepted is when.
	modify   url.Values
	accepted time.Time
	// scheduled is true for a change that waits for the maintenance window, which never comes here.
	scheduled bool
	// optimized is the end of the optimization after the last change of the storage.
	optimized time.Time
	// last is the description of an instance that is being deleted since gone.
	last []byte
	gone time.Time
}

// SetDatabasesBusy lets DB instances be creating, modifying and deleting for so long after each request. Changes that RDS makes later show
// as pending in that time: in the first half the instance is available, in the second it is modifying. Only requests that name an instance
// show it. Zero ends it.
func (s *Service) SetDatabasesBusy(d time.Duration) { s.Locked(func() { s.databaseDelay = d }) }

// pendingMembers are the changes that RDS shows as pending, with their names there.
// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_PendingModifiedValues.html
var pendingMembers = [][2]string{
	{"DBInstanceClass", "DBInstanceClass"}, {"AllocatedStorage", "AllocatedStorage"}, {"MasterUserPassword",
		"MasterUserPassword"}, {"DBPortNumber", "Port"},
	{"BackupRetentionPeriod", "BackupRetentionPeriod"}, {"MultiAZ", "MultiAZ"}, {"EngineVersion", "EngineVersion"}, {"StorageType",
		"StorageType"},
	{"Iops", "Iops"},
}

const lifecycleSupport = "EngineLifecycleSupport"

// databaseOf returns the extra state of the instance of a request, the time and the delay of all instances.
func (s *Service) databaseOf(x *proxy.Exchange) (*database, time.Time, time.Duration) {
	id := s.Identity(x, x.Service, x.Resource)
	if s.databases[id] == nil {
		s.databases[id] = &database{}
	}
	return s.databases[id], s.Now(), s.databaseDelay
}

// refuseDatabaseRequest: moto deletes instances without a final snapshot where none is named, changes instances in every
// state, and ends the management of a password without another one.
// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_DeleteDBInstance.html
func (s *Service) refuseDatabaseRequest(_ context.Context, x *proxy.Exchange) *proxy.Answer {
	s.Mu.Lock()
	d, now, delay := s.databaseOf(x)
	busy := d.modify != nil && !d.scheduled || !d.gone.IsZero() && now.Sub(d.gone) < delay
	s.Mu.Unlock()
	refuse := func(code, message string) *proxy.Answer {
		return x.Refuse(http.StatusBadRequest, code, message)
	}
	skips, names := x.Form.Get("SkipFinalSnapshot") == "true", x.Form.Get("FinalDBSnapshotIdentifier") != ""
	switch {
	case busy || delay > 0 && s.CreatedWithin(x, delay):
		return refuse("InvalidDBInstanceState", "Instance "+x.Resource+" is not in available state.")
	case x.Op == "DeleteDBInstance" && !skips && !names:
		return refuse("InvalidParameterCombination", "FinalDBSnapshotIdentifier is required unless SkipFinalSnapshot is specified.")
	case x.Op == "DeleteDBInstance" && skips && names:
		return refuse("InvalidParameterCombination",
			"FinalDBSnapshotIdentifier can not be specified when deleting an instance without a final snapshot.")
	case x.Form.Get("ManageMasterUserPassword") == "true" && x.Form.Get("MasterUserPassword") != "":
		return refuse("InvalidParameterCombination", "You can't specify MasterUserPassword when ManageMasterUserPassword is true.")
	case x.Form.Get("ManageMasterUserPassword") == "false" && x.Form.Get("MasterUserPassword") == "":
		return refuse("InvalidParameterCombination", "You must specify MasterUserPassword when you turn off ManageMasterUserPassword.")
	default:
		return nil
	}
}

// holdModification keeps a change that RDS makes later, and answers with the instance as it is.
func (s *Service) holdModification(ctx context.Context, x *proxy.Exchange) *proxy.Answer {
	later := false
	for _, m := range pendingMembers {
		later = later || x.Form.Get(m[0]) != ""
	}
	s.Mu.Lock()
	d, now, delay := s.databaseOf(x)
	if port := x.Form.Get("DBPortNumber"); port != "" && delay == 0 {
		d.port = port
	}
	s.Mu.Unlock()
	if !later || delay == 0 {
		return nil
	}
	a, err := s.askRDS(ctx, x, url.Values{"Action": {"DescribeDBInstances"}, "DBInstanceIdentifier": {x.Resource}})
	if err != nil {
		return proxy.ProxyError(x, err)
	}
	if !a.OK() {
		return a
	}
	s.Mu.Lock()
	d.takeChange(x.Form, now)
	s.Mu.Unlock()
	return describedAs(x.Op, databaseElement.Find(a.Body))
}

// takeChange accepts a change. One that is made at once takes those along that were left for the maintenance window.
// https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/USER_ModifyInstance.ApplyImmediately.html
func (d *database) takeChange(form url.Values, now time.Time) {
	if d.modify != nil {
		for name, values := range d.modify {
			if _, ok := form[name]; !ok {
				form[name] = values
			}
		}
	}
	d.modify, d.accepted, d.scheduled = form, now, form.Get("ApplyImmediately") != "true"
}

// databaseElement is a described instance. Each answer that is corrected has one.
var databaseElement = regexp.MustCompile(`(?s)<DBInstance>.*</DBInstance>`)

// describedAs returns the answer of an operation that describes one instance.
func describedAs(op string, element []byte) *proxy.Answer {
	return &proxy.Answer{Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/xml"}},
		Body: fmt.Appendf(nil, `<%[1]sResponse xmlns="http://rds.amazonaws.com/doc/2014-10-31/"><%[1]sResult>%[2]s</%[1]sResult></%[1]sResponse>`,
			op, element)}
}

// prepareDatabase makes each pending change that is due, and answers with the last description of an instance that is being deleted.
func (s *Service) prepareDatabase(ctx context.Context, x *proxy.Exchange) *proxy.Answer {
	s.Mu.Lock()
	d, now, delay := s.databaseOf(x)
	var due url.Values
	if d.modify != nil && !d.scheduled && now.Sub(d.accepted) >= delay {
		due, d.modify = d.modify, nil
		if port := due.Get("DBPortNumber"); port != "" {
			d.port = port
		}
	}
	last, deleting := d.last, !d.gone.IsZero() && now.Sub(d.gone) < delay
	s.Mu.Unlock()
	if due != nil {
		if a, err := s.askRDS(ctx, x, due); err != nil || !a.OK() {
			return x.Refuse(http.StatusInternalServerError, "ProxyError", "the change of "+x.Resource+" failed")
		}
	}
	if deleting {
		return describedAs(x.Op, fmt.Appendf(nil, "<DBInstances>%s</DBInstances>", last))
	}
	return nil
}

var (
	databaseStatus   = regexp.MustCompile(`<DBInstanceStatus>[^<]*</DBInstanceStatus>`)
	databasePort     = regexp.MustCompile(`(?s)(<Endpoint>.*?<Port>)[^<]*(</Port>)`)
	databaseUnborn   = regexp.MustCompile(`(?s)<Endpoint>.*?</Endpoint>|<InstanceCreateTime>[^<]*</InstanceCreateTime>`)
	databasePendings = regexp.MustCompile(`(?s)<PendingModifiedValues>.*?</PendingModifiedValues>|<PendingModifiedValues\s*/>`)
)

// showDatabase: moto changes no port, and its instances are never creating, modifying or deleting.
// https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/accessing-monitoring.html
func (s *Service) showDatabase(_ context.Context, x *proxy.Exchange, a *proxy.Answer) *proxy.Answer {
	if !a.OK() || x.Form.Get("DBInstanceIdentifier") == "" {
		return a.WithBody(s.showSupport(x, a.Body))
	}
	creating := s.CreatedWithin(x, s.busyOfDatabases())
	s.Mu.Lock()
	defer s.Mu.Unlock()
	d, now, delay := s.databaseOf(x)
	switch x.Op {
	case "CreateDBInstance":
		*d = database{support: x.Form.Get(lifecycleSupport)}
	case "ModifyDBInstance":
		d.support = cmp.Or(x.Form.Get(lifecycleSupport), d.support)
	case "DeleteDBInstance":
		d.gone, d.last = now, databaseStatus.ReplaceAll(databaseElement.Find(a.Body), []byte("<DBInstanceStatus>deleting</DBInstanceStatus>"))
	}
	body := a.Body
	if now.Before(d.optimized) {
		body = databaseStatus.ReplaceAll(body, []byte("<DBInstanceStatus>storage-optimization</DBInstanceStatus>"))
	}
	body = d.withSupport(body)
	if d.port != "" {
		body = databasePort.ReplaceAll(body, []byte("${1}"+d.port+"${2}"))
	}
	if creating {
		body = databaseUnborn.ReplaceAll(databaseStatus.ReplaceAll(body, []byte("<DBInstanceStatus>creating</DBInstanceStatus>")), nil)
	}
	if d.modify != nil {
		var pending strings.Builder
		for _, m := range pendingMembers {
			if v := d.modify.Get(m[0]); v != "" {
				fmt.Fprintf(&pending, "<%[1]s>%[2]s</%[1]s>", m[1], proxy.Escape(v))
			}
		}
		body = databasePendings.ReplaceAll(body, nil)
		body = bytes.Replace(body, []byte("</DBInstance>"),
			[]byte("<PendingModifiedValues>"+pending.String()+"</PendingModifiedValues></DBInstance>"), 1)
		if !d.scheduled && now.Sub(d.accepted) >= delay/2 {
			body = databaseStatus.ReplaceAll(body, []byte("<DBInstanceStatus>modifying</DBInstanceStatus>"))
		}
	}
	return a.WithBody(body)
}

var (
	eachDatabase = regexp.MustCompile(`(?s)<DBInstance>.*?</DBInstance>`)
	databaseName = regexp.MustCompile(`<DBInstanceIdentifier>([^<]*)</DBInstanceIdentifier>`)
)

// showSupport adds the support of the engine to each of many instances.
func (s *Service) showSupport(x *proxy.Exchange, body []byte) []byte {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return eachDatabase.ReplaceAllFunc(body, func(element []byte) []byte {
		d := &database{}
		if name := databaseName.FindSubmatch(element); name != nil {
			d = cmp.Or(s.databases[s.Identity(x, x.Service, string(name[1]))], d)
		}
		return d.withSupport(element)
	})
}

// withSupport adds the support of the engine to a described instance of an engine that has any.
func (d *database) withSupport(element []byte) []byte {
	if !bytes.Contains(element, []byte("<Engine>postgres</Engine>")) && !bytes.Contains(element, []byte("<Engine>mysql</Engine>")) {
		return element
	}
	shown := cmp.Or(d.support, "open-source-rds-extended-support")
	return bytes.Replace(element, []byte("</DBInstance>"), []byte("<"+lifecycleSupport+">"+shown+"</"+lifecycleSupport+"></DBInstance>"), 1)
}

func (s *Service) busyOfDatabases() time.Duration {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.databaseDelay
}
