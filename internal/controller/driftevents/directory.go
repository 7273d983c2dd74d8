// SPDX-License-Identifier: Apache-2.0

package driftevents

import (
	"context"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/awssession"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/driftevents"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// flowCheck is the interval of looks whether events still arrive.
const flowCheck = 15 * time.Second

// Watcher finds the objects of one kind with resources that an event names.
type Watcher interface {
	// Changed requests a check of each object with a resource that the event names. If a namespace is given, only its objects are checked.
	// It returns how many there are. An event that is repeated requests nothing more.
	Changed(ctx context.Context, e driftevents.Event, namespace string) (int, error)
	// HastenChecks moves the next check of each object without arriving events into the ordinary interval.
	HastenChecks(ctx context.Context)
}

// Directory reads the queue of the operator and those of AWSProviders, while this process leads.
type Directory struct {
	Env       reconciler.Environment
	Sessions  *awsclient.Sessions
	Providers *awssession.Directory
	Flow      *Flow
	// Queue is the URL of the operator's queue; empty for none. Region is the region of a queue with a URL that names none.
	Queue, Region string
	Watchers      []Watcher
	// ShowChange has the AWSProviders show whether events arrive.
	ShowChange func(context.Context)

	mu      sync.Mutex
	ctx     context.Context
	started time.Time
	own     *reader
	readers map[types.NamespacedName]*reader
}

// Start implements manager.Runnable. The manager runs it while it leads: messages reach one reader only.
func (d *Directory) Start(ctx context.Context) error {
	d.Env.Metrics.DriftResults(results()...)
	d.mu.Lock()
	d.ctx, d.started = ctx, d.Env.Clock.Now()
	if d.Queue != "" {
		d.own = &reader{Directory: d, url: d.Queue, open: d.openOwn}
		go d.own.run(ctx)
	}
	d.mu.Unlock()
	d.ShowChange(ctx) // starts the readers of providers that were reconciled before
	tick := time.NewTicker(flowCheck)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			d.followFlow(ctx)
		}
	}
}

// followFlow returns to the ordinary interval of checks where events stopped to arrive.
func (d *Directory) followFlow(ctx context.Context) {
	began, stopped := d.Flow.changes()
	if stopped {
		for _, w := range d.Watchers {
			w.HastenChecks(ctx)
		}
	}
	if began || stopped {
		d.ShowChange(ctx)
	}
}

var regionOfQueue = regexp.MustCompile(`^https?://sqs\.([a-z0-9-]+)\.amazonaws\.com(\.cn)?/`)

// openOwn returns the session that reads the operator's queue: that of the operator's own identity in the region of the queue.
func (d *Directory) openOwn(ctx context.Context) (*awsclient.Session, error) {
	region := d.Region
	if m := regionOfQueue.FindStringSubmatch(d.Queue); m != nil {
		region = m[1]
	}
	return d.Sessions.Open(ctx, awsclient.Identity{Key: "generated/" + region, Region: region})
}

// Follow starts to read the queue of an AWSProvider, or stops when it names none. Provider is ready.
func (d *Directory) Follow(p *v1alpha1.AWSProvider) {
	d.mu.Lock()
	defer d.mu.Unlock()
	key, queue := client.ObjectKeyFromObject(p), ""
	if p.Spec.DriftEvents != nil && p.DeletionTimestamp == nil {
		queue = p.Spec.DriftEvents.QueueURL
	}
	if r := d.readers[key]; r != nil && r.url != queue {
		r.stop()
		delete(d.readers, key)
	}
	if d.ctx == nil || queue == "" || d.readers[key] != nil || d.isRead(queue) {
		return
	}
	ctx, stop := context.WithCancel(d.ctx)
	next := &reader{Directory: d, url: queue, namespace: p.Namespace, stop: stop,
		open: func(ctx context.Context) (*awsclient.Session, error) { return d.openOf(ctx, key) }}
	if d.readers == nil {
		d.readers = map[types.NamespacedName]*reader{}
	}
	d.readers[key] = next
	go next.run(ctx)
}

// isRead reports whether a queue has a reader. Several URLs lead to a queue, which its account and name identify here: a queue of the same
// account and name in another region counts as the same.
func (d *Directory) isRead(queue string) bool {
	name := pathOf(queue)
	if name == pathOf(d.Queue) {
		return true
	}
	for _, r := range d.readers {
		if name == pathOf(r.url) {
			return true
		}
	}
	return false
}

// pathOf returns the path of a queue's URL, which has its account and name.
func pathOf(queue string) string {
	u, err := url.Parse(queue)
	if err != nil {
		return queue
	}
	return strings.Trim(u.Path, "/")
}

// Drop stops reading the queue of an AWSProvider that is gone.
func (d *Directory) Drop(key types.NamespacedName) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if r := d.readers[key]; r != nil {
		r.stop()
		delete(d.readers, key)
	}
}

// openOf returns the session of an AWSProvider.
func (d *Directory) openOf(ctx context.Context, key types.NamespacedName) (*awsclient.Session, error) {
	p := &v1alpha1.AWSProvider{}
	if err := d.Env.Client.Get(ctx, key, p); err != nil {
		return nil, err
	}
	return d.Providers.OfProvider(ctx, p)
}

// Condition returns the condition DriftEvents of an AWSProvider; nil where no queue reports changes in its account and region, and false
// while that is not known yet.
func (d *Directory) Condition(p *v1alpha1.AWSProvider) (*metav1.Condition, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ctx == nil {
		return nil, false
	}
	r, queue := d.readers[client.ObjectKeyFromObject(p)], d.Queue
	if p.Spec.DriftEvents != nil {
		queue = p.Spec.DriftEvents.QueueURL
	} else {
		r = d.own
	}
	if queue == "" {
		return nil, true
	}
	if r == nil {
		return unusable(status.ReasonQueueShared, "another AWSProvider, or the operator, reads "+queue+
			" already, and a message reaches one reader only: name a separate queue in spec.driftEvents.queueURL"), true
	}
	return d.conditionOf(p, r)
}

func (d *Directory) conditionOf(p *v1alpha1.AWSProvider, r *reader) (*metav1.Condition, bool) {
	account, region := p.Status.AccountID, p.Spec.Region
	if err := r.lastFailure(); err != nil {
		return unusable(status.ReasonQueueUnusable, "the queue "+r.url+" cannot be read, and resources are checked at the ordinary interval: "+
			err.Error()), true
	}
	if d.Flow.arrive(p.Namespace, account, region) {
		return &metav1.Condition{Type: status.DriftEvents, Status: metav1.ConditionTrue, Reason: status.ReasonReceiving,
			Message: "events of changes in account " + account + ", region " + region + ", arrive through " + r.url}, true
	}
	if d.Env.Clock.Since(d.started) < heartbeatPatience {
		return nil, false
	}
	return unusable(status.ReasonNoHeartbeat, "no heartbeat of account "+account+", region "+region+", arrived through "+r.url+
		" in the last five minutes, and resources are checked at the ordinary interval: "+
		"see whether the rules in EventBridge are enabled and the queue policy allows them to send to the queue"), true
}

func unusable(reason, message string) *metav1.Condition {
	return &metav1.Condition{Type: status.DriftEvents, Status: metav1.ConditionFalse, Reason: reason, Message: message}
}
