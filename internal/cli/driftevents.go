// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/enact"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/install"
	"github.com/nexus-operator/nexus-operator/internal/permissions"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// defaultDriftQueue is the name of the queue of drift events, and of its rules.
const defaultDriftQueue = "nexus-drift-events"

// queueName matches the names that a queue and its two rules can have: those of rules have at most 64 characters.
var queueName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,54}$`)

// driftEventsFlags holds the flags of the verbs below drift-events.
type driftEventsFlags struct {
	name, output string
	dryRun, yes  bool
	// removes is true for uninstall.
	removes bool
	timeout time.Duration
}

func (f *driftEventsFlags) Check() error {
	switch {
	case !queueName.MatchString(f.name):
		return exit.Usage("--name: %q is not a name of at most 54 letters, digits, - and _", f.name)
	case f.removes && !f.yes && !f.dryRun:
		return exit.Usage("add --yes to remove what the command names, or --dry-run to see what would be removed")
	case f.removes && f.timeout <= 0:
		return exit.Usage("--timeout: %s is not a duration above 0", f.timeout)
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

func (s *shared) driftEventsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "drift-events",
		Short:   "Make the queue and the rules that report changes in AWS within seconds",
		Example: "  nexusctl drift-events install\n  nexusctl drift-events status",
		Args:    arguments(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			return exit.Usage("name what to do: install, status or uninstall")
		},
	}
	cmd.AddCommand(s.installEventsCommand(), s.eventsStatusCommand(), s.uninstallEventsCommand())
	return cmd
}

func (s *shared) installEventsCommand() *cobra.Command {
	f := &driftEventsFlags{}
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Make the queue, its policy and its rules, or set them right",
		Long: "install makes a queue of Amazon SQS, and two rules of EventBridge that send to it: one for the changes that CloudTrail records, and one\n" +
			"on a schedule for the heartbeat. The queue policy lets these two rules send, and no other sender. It prints the differences\n" +
			"before each change, and the rights of the identity that reads the queue. A second run finds nothing to change. What it\n" +
			"created is recorded in ConfigMap " + install.LedgerName + " in the namespace of the operator, so that nexusctl drift-events uninstall,\n" +
			"and nexusctl delete --full, remove that and nothing else. It makes no trail: CloudTrail needs one that records management events.",
		Example: "  nexusctl drift-events install --dry-run\n  nexusctl drift-events install --region eu-west-1",
		Args:    arguments(cobra.NoArgs),
		RunE:    runChecked(f, s.installEvents),
	}
	f.addFlags(cmd)
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "print what would change, and change nothing")
	outputFlag(cmd, &f.output, "text", "json", "yaml")
	return cmd
}

func (s *shared) eventsStatusCommand() *cobra.Command {
	f := &driftEventsFlags{}
	cmd := &cobra.Command{
		Use:     "status",
		Short:   "Show the queue, its rules, and whether events arrive",
		Long:    "status shows the queue with the messages that wait in it, the rules, what install would change, and the condition DriftEvents of\neach AWSProvider.",
		Example: "  nexusctl drift-events status",
		Args:    arguments(cobra.NoArgs),
		RunE:    runChecked(f, s.eventsStatus),
	}
	f.addFlags(cmd)
	outputFlag(cmd, &f.output, "text", "json", "yaml")
	return cmd
}

func (s *shared) uninstallEventsCommand() *cobra.Command {
	f := &driftEventsFlags{removes: true}
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Remove the queue and the rules that install made",
		Long: "uninstall removes the queue and the rules that nexusctl drift-events install created. Take the queue from the operator first: while it\n" +
			"names a queue that does not exist, AWSProviders show QueueUnusable. Checks return to the ordinary interval.",
		Example: "  nexusctl drift-events uninstall --dry-run\n  nexusctl drift-events uninstall --yes",
		Args:    arguments(cobra.NoArgs),
		RunE:    runChecked(f, s.uninstallEvents),
	}
	f.addFlags(cmd)
	cmd.Flags().BoolVar(&f.yes, "yes", false, "really remove; without it, or --dry-run, the command is refused")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "print what would be removed, and remove nothing")
	cmd.Flags().DurationVar(&f.timeout, "timeout", time.Minute, "how long the removal may take")
	return cmd
}

func (f *driftEventsFlags) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.name, "name", defaultDriftQueue, "name of the queue, with which the names of the rules begin")
}

// lookAtEvents finds what is there, and what is to change. It only reads.
func (s *shared) lookAtEvents(ctx context.Context, f *driftEventsFlags) (*driftEventsReport, client.Client, error) {
	cfg, c, err := s.Connect()
	if err != nil {
		return nil, nil, err
	}
	cloud, err := s.OpenCloud(ctx, cfg, c, "")
	if err != nil {
		return nil, nil, err
	}
	found, changes, err := cloud.Account.DriftEvents(ctx, f.name)
	if foreign, ok := errors.AsType[*install.ForeignError](err); ok {
		return nil, nil, exit.Precondition(foreign)
	}
	if err != nil {
		return nil, nil, err
	}
	return &driftEventsReport{APIVersion: enact.APIVersion, Kind: "DriftEvents", QueueURL: found.QueueURL, Exists: found.Exists, Waiting: found.Waiting, Rules: found.Rules,
		DryRun: f.dryRun, Changes: append([]install.Change{}, changes...), Rights: permissions.DriftQueueReader(found.QueueARN)}, c, nil
}

func (s *shared) installEvents(ctx context.Context, f *driftEventsFlags) error {
	r, c, err := s.lookAtEvents(ctx, f)
	if err != nil {
		return err
	}
	r.installs = true
	return enact.Reported(s.Console, f.output, f.dryRun, r, func() (err error) {
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

func (s *shared) eventsStatus(ctx context.Context, f *driftEventsFlags) error {
	f.dryRun = true
	r, c, err := s.lookAtEvents(ctx, f)
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
	return console.PrintAs(s.Out, f.output, r, r.Text)
}

func (s *shared) uninstallEvents(ctx context.Context, f *driftEventsFlags) error {
	cfg, c, err := s.Connect()
	if err != nil {
		return err
	}
	ledger, err := install.ReadLedger(ctx, c, s.NamespaceOfOperator())
	if err != nil {
		return err
	}
	ours := slices.DeleteFunc(ledger.Records(), func(r install.Record) bool { return !isOfEvents(r, f.name) })
	if len(ours) == 0 {
		return exit.Precondition(fmt.Errorf("ConfigMap %s/%s records no queue or rule named %s: nexusctl did not create them; remove them with the tool that did", s.NamespaceOfOperator(), install.LedgerName, f.name))
	}
	cloud, err := s.OpenCloud(ctx, cfg, c, "")
	if err != nil {
		return err
	}
	changes, err := enact.RemovalsInAWS(ctx, cloud.Account, ours)
	if err != nil {
		return err
	}
	if err := enact.Print(s.Console, changes, nil, f.dryRun); err != nil || f.dryRun {
		return err
	}
	if err := enact.Remove(ctx, s.Console, enact.Removal{Client: c, Ledger: ledger, Timeout: f.timeout, Changes: changes}); err != nil {
		return err
	}
	s.Say("The queue and the rules of drift events were removed.")
	return nil
}

// isOfEvents reports whether a record is that of the queue of a name, or of one of its rules.
func isOfEvents(r install.Record, name string) bool {
	return strings.Contains(r.ARN, ":sqs:") && strings.HasSuffix(r.ARN, ":"+name) || strings.HasSuffix(r.ARN, ":rule/"+name) || strings.HasSuffix(r.ARN, ":rule/"+name+"-heartbeat")
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
			b.WriteString("\nThe operator's identity needs these rights:\n" + text + "\nThen have the operator read the queue: --drift-events-queue=" + r.QueueURL + ", or reconcile.driftEventsQueue of the chart.\n")
		}
	}
	return b.String()
}
