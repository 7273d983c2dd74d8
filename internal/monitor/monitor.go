// SPDX-License-Identifier: Apache-2.0

// Package monitor watches a capability until it runs.
package monitor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/inspect"
	"github.com/nexus-operator/nexus-operator/internal/progress"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Options are the flags of the verb.
type Options struct {
	Output, Until string
	Timeout       time.Duration
}

// Check refuses invalid options.
func (f *Options) Check() error {
	switch {
	case !slices.Contains([]string{"text", "json", "ndjson"}, f.Output):
		return exit.Usage("--output: %q is none of text, ndjson and json", f.Output)
	case !slices.Contains([]string{progress.UntilRunning, progress.UntilPods, progress.UntilAddress}, f.Until):
		return exit.Usage("--wait-for: %q is none of running, pods and address", f.Until)
	case f.Timeout <= 0:
		return exit.Usage("--timeout: %s is not a duration above 0", f.Timeout)
	default:
		return nil
	}
}

// Run shows how far a capability is until it has reached the state that the options name.
func Run(ctx context.Context, s *connection.Connection, f *Options, args []string) error {
	if err := f.Check(); err != nil {
		return err
	}
	key, err := s.CapabilityKey(args)
	if err != nil {
		return err
	}
	cfg, c, err := s.Connect()
	if err != nil {
		return err
	}
	watching, err := client.NewWithWatch(cfg, client.Options{Scheme: c.Scheme(), Mapper: c.RESTMapper()})
	if err != nil {
		return exit.Precondition(fmt.Errorf("reaching the cluster: %w", err))
	}
	subject, err := connection.CapabilityNamed(ctx, c, key)
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, f.Timeout)
	defer cancel()
	m := &monitor{Options: f, Connection: s, watches: newWatches(watching), client: watching, subject: subject,
		Recorder: progress.NewRecorder(s.Clock.Now()), canvas: s.Canvas(f.Output)}
	if err := m.watch(limited); err != nil {
		return err
	}
	err = m.run(limited)
	if ctx.Err() != nil {
		s.Say("Run the same command again to go on watching.")
	}
	return err
}

// monitor is a run of the verb.
type monitor struct {
	*Options
	*connection.Connection
	*watches
	*progress.Recorder
	// canvas is nil without a terminal.
	canvas  *console.Canvas
	client  client.Client
	subject *nexusv1.NexusAICapability

	capabilities, deployments, eventsSeen cache.SharedInformer
	// said is the trouble that was last printed.
	said string
}

// The objects that monitor watches, by their names in a Role that gives a right to them.
const (
	watchedCapability  = "nexuscapabilities.nexus.ai"
	watchedDeployments = "deployments.apps"
	watchedEvents      = "events"
)

// watch begins to watch the capability, its Deployments and the events of its namespace.
func (m *monitor) watch(ctx context.Context) error {
	c, err := m.subject, error(nil)
	m.capabilities, err = m.start(ctx, watchedCapability, &nexusv1.NexusAICapability{}, &nexusv1.NexusAICapabilityList{},
		client.InNamespace(c.Namespace), client.MatchingFieldsSelector{Selector: fields.OneTermEqualSelector("metadata.name", c.Name)})
	if err != nil {
		return err
	}
	m.deployments, err = m.start(ctx, watchedDeployments, &appsv1.Deployment{}, &appsv1.DeploymentList{},
		client.InNamespace(capability.NamesOf(c).WorkloadNamespace()), client.MatchingLabels{wellknown.LabelCapabilityUID: string(c.UID)})
	if err != nil {
		return err
	}
	m.eventsSeen, err = m.start(ctx, watchedEvents, &corev1.Event{}, &corev1.EventList{}, client.InNamespace(c.Namespace))
	return err
}

// run shows every change until the end.
func (m *monitor) run(ctx context.Context) error {
	var tick <-chan time.Time
	if m.canvas != nil { // durations grow
		t := time.NewTicker(time.Second)
		defer t.Stop()
		tick = t.C
	}
	latest := progress.Progress{Namespace: m.subject.Namespace, Name: m.subject.Name, Exists: true}
	for {
		select {
		case <-ctx.Done():
			return m.timedOut(ctx, latest)
		case trouble := <-m.troubles:
			if err := m.report(trouble); err != nil {
				return err
			}
			continue
		case <-m.changed:
		case <-tick:
		}
		if !m.capabilities.HasSynced() {
			continue
		}
		latest = m.look()
		if over, err := m.show(ctx, latest); over || err != nil {
			return err
		}
	}
}

// look reads the objects of the watches.
func (m *monitor) look() progress.Progress {
	found := itemsOf[*nexusv1.NexusAICapability](m.capabilities)
	if len(found) == 0 || found[0].UID != m.subject.UID {
		return progress.Progress{Namespace: m.subject.Namespace, Name: m.subject.Name}
	}
	return progress.Of(found[0], itemsOf[*appsv1.Deployment](m.deployments), itemsOf[*corev1.Event](m.eventsSeen))
}

// show prints the changes, and reports whether that was the end.
func (m *monitor) show(ctx context.Context, p progress.Progress) (over bool, err error) {
	now := m.Clock.Now()
	changes := m.Observe(&p, now)
	ended := p.EndOf(m.Until)
	state := progress.ResultReached
	if ended.Failed {
		state = progress.ResultFailed
		ended.Text = status.Extend(ended.Text, m.causeBeyond(ctx, p))
	}
	if m.canvas != nil {
		if err := m.print(m.canvas.Draw(progress.Table(m.canvas, p, now.Sub(m.Began)))); err != nil {
			return true, err
		}
		changes = nil
	}
	if ended.Reached || ended.Failed {
		changes = append(changes, m.Result(p, now, state, ended.Text))
	}
	for _, c := range changes {
		if err := m.printChange(c); err != nil {
			return true, err
		}
	}
	if ended.Failed {
		return true, &exit.Failure{Code: exit.CodeFailed, Err: fmt.Errorf("NexusAICapability %s/%s: %s", p.Namespace, p.Name, ended.Text)}
	}
	return ended.Reached, nil
}

// causeBeyond names the cause of a failure, as explain does, where the status names another object. Without the rights to look for it,
// there is the text of the status alone.
func (m *monitor) causeBeyond(ctx context.Context, p progress.Progress) string {
	found := itemsOf[*nexusv1.NexusAICapability](m.capabilities)
	if len(found) == 0 || p.Stalled == "" {
		return ""
	}
	e, err := inspect.ExplainCapability(ctx, m.ReaderOf(m.client), found[0])
	if err != nil || e == nil {
		return ""
	}
	see := "; see " + inspect.ExplainCommand(m.subject)
	if e.Cause.ID() == e.Object.ID() || strings.Contains(p.Stalled, e.Cause.ID()) {
		return see
	}
	return "; the cause is " + inspect.CauseText(e) + see
}

func (m *monitor) printChange(c progress.Change) error {
	if m.Output == "text" {
		return m.print(progress.LineOf(c) + "\n")
	}
	e := json.NewEncoder(m.Out)
	e.SetEscapeHTML(false)
	return e.Encode(c)
}

func (m *monitor) print(text string) error {
	_, err := io.WriteString(m.Out, text)
	return err
}

// timedOut returns the error of a monitor that ran out of time, with the missing part; nil after an interruption.
func (m *monitor) timedOut(ctx context.Context, p progress.Progress) error {
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return ctx.Err()
	}
	text := fmt.Sprintf("not within %s: %s", m.Timeout, p.Missing(m.Until))
	if err := m.printChange(m.Result(p, m.Clock.Now(), progress.ResultTimedOut, text)); err != nil {
		return err
	}
	return &exit.Failure{Code: exit.CodeTimeout, Err: fmt.Errorf("NexusAICapability %s/%s: %s", p.Namespace, p.Name, text)}
}

// report says that a watch failed, once. It returns an error when monitor cannot go on without a right.
func (m *monitor) report(t watchTrouble) error {
	needed := t.what == watchedCapability || t.what == watchedDeployments && m.Until != progress.UntilRunning
	if t.isRefused() && needed {
		return exit.Precondition(fmt.Errorf("monitor needs the right to list and watch %s: %w", t.what, t))
	}
	if text := t.Error(); text != m.said {
		m.said = text
		m.Say("%s", text)
	}
	return nil
}
