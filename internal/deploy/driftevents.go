// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/enact"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/install"
	"github.com/nexus-operator/nexus-operator/internal/permissions"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// DefaultDriftQueue is the name of the queue of drift events, and of its rules.
const DefaultDriftQueue = "nexus-drift-events"

// queueName matches the names that a queue and its two rules can have: those of rules have at most 64 characters.
var queueName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,54}$`)

// EventsOptions holds the flags of the verbs below drift-events.
type EventsOptions struct {
	Name, Output string
	DryRun, Yes  bool
	// Removes is true for uninstall.
	Removes bool
	Timeout time.Duration
}

// Check refuses invalid options.
func (f *EventsOptions) Check() error {
	switch {
	case !queueName.MatchString(f.Name):
		return exit.Usage("--name: %q is not a name of at most 54 letters, digits, - and _", f.Name)
	case f.Removes && !f.Yes && !f.DryRun:
		return exit.Usage("add --yes to remove what the command names, or --dry-run to see what would be removed")
	case f.Removes && f.Timeout <= 0:
		return exit.Usage("--timeout: %s is not a duration above 0", f.Timeout)
	}
	return nil
}

// driftEventsReport is the report of install and status.
type driftEventsReport struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// QueueURL is that of the queue, for --drift-events-queue of the operator or spec.driftEvents.queueURL of an AWSProvider.
	QueueURL string `json:"queueURL"`
	// Exists is false where there is no queue yet.
	Exists bool `json:"exists"`
	// Waiting is the number of messages that wait in the queue.
	Waiting string              `json:"waiting,omitempty"`
	Rules   []install.EventRule `json:"rules"`
	// Providers lists the condition DriftEvents of each AWSProvider that has it.
	Providers []providerEvents `json:"providers,omitempty"`
	// Rights is the policy of the identity that reads the queue.
	Rights iampolicy.Document `json:"rights"`
	// DryRun is true when the changes were not made.
	DryRun  bool             `json:"dryRun"`
	Changes []install.Change `json:"changes"`

	// installs is true for the report of install.
	installs bool
}

// providerEvents is the condition DriftEvents of an AWSProvider.
type providerEvents struct {
	Provider string `json:"provider"`
	Status   string `json:"status"`
	Reason   string `json:"reason"`
	Message  string `json:"message"`
}

// lookAtEvents finds the existing queue and rules, and the changes to them. It only reads.
func lookAtEvents(ctx context.Context, s *connection.Connection, f *EventsOptions) (*driftEventsReport, client.Client, error) {
	cfg, c, err := s.Connect()
	if err != nil {
		return nil, nil, err
	}
	cloud, err := s.OpenCloud(ctx, cfg, c, "")
	if err != nil {
		return nil, nil, err
	}
	found, changes, err := cloud.Account.Events.Look(ctx, f.Name)
	if foreign, ok := errors.AsType[*install.ForeignError](err); ok {
		return nil, nil, exit.Precondition(foreign)
	}
	if err != nil {
		return nil, nil, err
	}
	return &driftEventsReport{APIVersion: enact.APIVersion, Kind: "DriftEvents", QueueURL: found.QueueURL, Exists: found.Exists,
		Waiting: found.Waiting, Rules: found.Rules,
		DryRun: f.DryRun, Changes: append([]install.Change{}, changes...), Rights: permissions.DriftQueueReader(found.QueueARN)}, c, nil
}

// InstallEvents makes the queue and the rules of drift events, and prints its changes.
func InstallEvents(ctx context.Context, s *connection.Connection, f *EventsOptions) error {
	r, c, err := lookAtEvents(ctx, s, f)
	if err != nil {
		return err
	}
	r.installs = true
	return enact.Reported(s.Console, f.Output, f.DryRun, r, func() (err error) {
		namespace := s.NamespaceOfOperator()
		if err := c.Get(ctx, client.ObjectKey{Name: namespace}, &corev1.Namespace{}); apierrors.IsNotFound(err) {
			return exit.Precondition(fmt.Errorf("there is no namespace %s, in which the installation is recorded: install the operator first, or name its namespace with --operator-namespace", namespace))
		}
		ledger, err := install.ReadLedger(ctx, c, namespace)
		if err != nil {
			return err
		}
		if err := enact.PlanRecorded(ctx, ledger, r.Changes); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, enact.SaveLedger(ctx, ledger)) }()
		return enact.Recorded(ctx, s.Console, ledger, r.Changes)
	})
}

// EventsStatus prints the state of the queue and its rules.
func EventsStatus(ctx context.Context, s *connection.Connection, f *EventsOptions) error {
	f.DryRun = true
	r, c, err := lookAtEvents(ctx, s, f)
	if err != nil {
		return err
	}
	list := &v1alpha1.AWSProviderList{}
	if err := c.List(ctx, list); err != nil && !meta.IsNoMatchError(err) {
		return err
	}
	for _, p := range list.Items {
		if c := meta.FindStatusCondition(p.Status.Conditions, status.DriftEvents); c != nil {
			r.Providers = append(r.Providers, providerEvents{p.Namespace + "/" + p.Name, string(c.Status), c.Reason, c.Message})
		}
	}
	return console.PrintAs(s.Out, f.Output, r, r.Text)
}

// UninstallEvents removes the queue and the rules that InstallEvents made.
func UninstallEvents(ctx context.Context, s *connection.Connection, f *EventsOptions) error {
	cfg, c, err := s.Connect()
	if err != nil {
		return err
	}
	ledger, err := install.ReadLedger(ctx, c, s.NamespaceOfOperator())
	if err != nil {
		return err
	}
	ours := slices.DeleteFunc(ledger.Records(), func(r install.Record) bool { return !isOfEvents(r, f.Name) })
	if len(ours) == 0 {
		return exit.Precondition(fmt.Errorf("ConfigMap %s/%s records no queue or rule named %s: nexusctl did not create them; remove them with the tool that did", s.NamespaceOfOperator(), install.LedgerName, f.Name))
	}
	cloud, err := s.OpenCloud(ctx, cfg, c, "")
	if err != nil {
		return err
	}
	changes, err := enact.RemovalsInAWS(ctx, cloud.Account, ours)
	if err != nil {
		return err
	}
	if err := enact.Print(s.Console, changes, nil, f.DryRun); err != nil || f.DryRun {
		return err
	}
	if err := enact.Remove(ctx, s.Console, enact.Removal{Client: c, Ledger: ledger, Timeout: f.Timeout, Changes: changes}); err != nil {
		return err
	}
	s.Say("The queue and the rules of drift events were removed.")
	return nil
}

// isOfEvents reports whether a record is that of the queue of a name, or of one of its rules.
func isOfEvents(r install.Record, name string) bool {
	return strings.Contains(r.ARN, ":sqs:") && strings.HasSuffix(r.ARN, ":"+name) || strings.HasSuffix(r.ARN, ":rule/"+name) ||
		strings.HasSuffix(r.ARN, ":rule/"+name+"-heartbeat")
}

func (r *driftEventsReport) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Queue %s", r.QueueURL)
	switch {
	case !r.Exists:
		b.WriteString(", does not exist yet\n")
	default:
		fmt.Fprintf(&b, ", %s messages wait\n", r.Waiting)
	}
	for _, rule := range r.Rules {
		sends := "sends to the queue"
		if !rule.Sends {
			sends = "does not send to the queue yet"
		}
		fmt.Fprintf(&b, "Rule %s, %s, %s\n", rule.ARN, rule.State, sends)
	}
	for _, p := range r.Providers {
		b.WriteString(console.Wrap("AWSProvider "+p.Provider+": "+p.Status+", "+p.Reason+": "+p.Message, ""))
	}
	enact.Write(&b, r.Changes, r.DryRun)
	if len(r.Changes) == 0 {
		b.WriteString("The queue and the rules are as they should be.\n")
	}
	if r.installs {
		if text, err := permissions.Text([]iampolicy.Document{r.Rights}); err == nil {
			b.WriteString("\nThe operator's identity needs these rights:\n" + text +
				"\nThen have the operator read the queue: --drift-events-queue=" + r.QueueURL + ", or reconcile.driftEventsQueue of the chart.\n")
		}
	}
	return b.String()
}
