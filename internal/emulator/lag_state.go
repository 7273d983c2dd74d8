// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// state holds what the corrections remember.
type state struct {
	mu            sync.Mutex
	now           func() time.Time
	lag           Lag
	lagSince      int // position of the last write before SetLag
	conditionsLag time.Duration
	evaluated     map[string]time.Time    // when tags of a resource were first evaluated, by its ARN
	creating      time.Duration           // how long DynamoDB tables are CREATING
	raised        bool                    // Parameter Store's higher throughput is on
	queueRest     time.Duration           // how long the name of a deleted queue is refused
	pending       string                  // protocol whose subscriptions are not confirmed
	seq           int                     // position of the last write or recorded answer
	accounts      map[string]string       // access key → account, of assumed roles
	tokens        map[string]bool         // identities of creations with their client tokens
	resources     map[string]*history     // by identity
	rewritten     map[string]bool         // fields of the catalog of rewrites that were met; a reset keeps them
	answers       map[string]recorded     // by read
	diverted      map[string]http.Handler // service → what answers in the emulator's place
	alsoTagged    http.Handler            // lists tagged resources that the emulator does not have; see ListTagged
	system        map[string][]bucketTag  // bucket → its tags that only AWS may change
	abac          map[string]bool         // bucket → it has attribute-based access control
	untagged      map[string]bool         // buckets that were made after one of their name was deleted, and that were given no tags
	documents     map[documentKey][]byte  // configurations of buckets, as they were sent
	tables        tables
	rotations     map[string]rotation // of secrets, by identity
	cleared       map[string]bool     // identities of secrets whose description was cleared
	gateways      natGateways
	made          map[string]*answer // answers to creations in EC2, by identity of the client token

	preparing sync.Mutex      // held while the tags of a Parameter Store are prepared
	prepared  map[string]bool // access key and region → they are

	databases     map[string]*database // by identity
	databaseDelay time.Duration        // how long DB instances are creating, modifying and deleting
	storageDelay  time.Duration        // how long they optimize their storage
	instances     map[string]*instance // by identity
	records       recordChanges
	instancesTake time.Duration // how long changes of their states take
	certificates  certificates
	associations  map[string]*association    // of EKS Pod Identity, by identity
	clusters      map[string]*ecsCluster     // by identity
	functions     map[string]*lambdaFunction // by identity
	functionsFail string                     // why their updates fail
	functionsTake time.Duration              // how long they are Pending, and their updates in progress
	// The state that functions show, why they show no variables, and the tag of images that do not exist; empty as they are.
	// tagged are ARNs that a search by a tag finds, by key=value.
	tagged                                        map[string][]string
	functionState, variablesHidden, imagesMissing string
	clustersTake                                  time.Duration            // how long changes of their capacity providers take
	clustersFail                                  bool                     // whether those changes fail
	providerOfCluster                             string                   // a capacity provider of Managed Instances that clusters have
	caches                                        map[string]*cacheCluster // of ElastiCache, by identity
	cachesTake                                    time.Duration            // how long they are creating, modifying and deleting

	cacheVersionParts int // how many parts of versions descriptions of cache clusters show, unless 0
	controlPlanes     controlPlanes
}

// event is a kind of write, as far as reads lag behind it.
type event int

const (
	created event = iota
	updated
	tagged
	deleted
	events
)

// history holds what was written to one resource.
type history struct {
	noun   string // Table of CreateTable; "" if its creation was not seen
	exists bool
	born   int // position of the creation
	last   [events]write
}

// write is the last write of a kind.
type write struct {
	at    time.Time
	seq   int            // its position; 0: there was none
	floor int            // position of the last write whose lag had passed before this one
	reads map[string]int // answers since, by read
}

// recorded is the last true answer to a read.
type recorded struct {
	seq int
	*answer
}

// maxRecordedAnswer bounds the answers that are kept.
const maxRecordedAnswer = 1 << 20

func (s *state) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now, s.creating, s.raised, s.pending, s.seq = time.Now, 0, false, "", 0
	s.accounts, s.tokens, s.resources = map[string]string{}, map[string]bool{}, map[string]*history{}
	s.rotations = map[string]rotation{}
	s.tables, s.cleared, s.untagged, s.abac = tables{known: map[string]*tableExtras{}}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	s.made, s.queueRest = map[string]*answer{}, queueRest
	s.prepared, s.gateways = map[string]bool{}, natGateways{known: map[string]*natGateway{}}
	s.databases, s.databaseDelay, s.storageDelay = map[string]*database{}, 0, 0
	s.records = recordChanges{}
	s.instances, s.instancesTake = map[string]*instance{}, 0
	s.certificates, s.associations = certificates{}, map[string]*association{}
	s.functions, s.functionsTake = map[string]*lambdaFunction{}, 0
	s.tagged = nil
	s.functionState, s.variablesHidden, s.imagesMissing = "", "", ""
	s.clusters, s.clustersTake, s.clustersFail, s.providerOfCluster = map[string]*ecsCluster{}, 0, false, ""
	s.caches, s.cachesTake, s.cacheVersionParts = map[string]*cacheCluster{}, 0, 0
	s.controlPlanes = controlPlanes{known: map[string]*controlPlane{}}
	s.system, s.documents, s.diverted = map[string][]bucketTag{}, map[documentKey][]byte{}, map[string]http.Handler{}
	s.alsoTagged, s.conditionsLag = nil, 0
	s.setLag(Lag{})
}

func (s *state) setLag(l Lag) {
	s.lag, s.lagSince, s.answers = l, s.seq, map[string]recorded{}
}

func (s *state) clockSkew() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lag.ClockSkew
}

func (s *state) unknownFields() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lag.UnknownFields
}

func (s *state) tableCreating() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.creating
}

// createdWithin reports whether the resource of a request was created less than
// so long ago.
func (s *state) createdWithin(x *exchange, d time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.resources[s.identity(x, x.service, x.resource)]
	return h != nil && h.last[created].seq != 0 && s.now().Sub(h.last[created].at) < d
}

// identity names a resource of a service in the account and region of a request.
func (s *state) identity(x *exchange, service, resource string) string {
	account, region := s.accountOf(x.accessKey), x.region
	if service == "iam" || service == "s3" || service == "route53" {
		region = "" // their names are not regional
	}
	return account + "|" + region + "|" + service + "|" + resource
}

func (s *state) accountOf(accessKey string) string {
	if assumed, ok := s.accounts[accessKey]; ok {
		return assumed
	}
	return defaultAccount
}

// touch records a write of a kind, whose lag lasts for the window.
func (s *state) touch(h *history, e event, w Window) {
	last := h.last[e]
	if last.seq != 0 && w.Reads == 0 && s.now().Sub(last.at) >= w.Time {
		last.floor = last.seq
	}
	h.last[e] = write{at: s.now(), seq: s.seq, floor: last.floor, reads: map[string]int{}}
}

// historyOf returns the history of a resource, which may be empty.
func (s *state) historyOf(id string) *history {
	h := s.resources[id]
	if h == nil {
		h = &history{exists: true}
		s.resources[id] = h
	}
	return h
}

// covers reports whether the next answer to a read falls into the window after
// the last write of a kind. Of alternating answers every second one does.
func (s *state) covers(h *history, e event, w Window, read string, alternate bool) bool {
	last := h.last[e]
	if last.seq <= s.lagSince {
		return false
	}
	wrong, reads := true, last.reads[read]
	if alternate {
		wrong, reads = reads%2 == 1, reads/2
	}
	if !(reads < w.Reads || w.Time > 0 && s.now().Sub(last.at) < w.Time) {
		return false
	}
	last.reads[read]++
	return wrong
}

// lateAnswer returns what a read is answered and, if this is not the true
// answer, what it is instead.
func (s *state) lateAnswer(x *exchange, a *answer) (late *answer, what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.lag.of(x.service)
	read := s.identity(x, x.service, x.resource) + "|" + x.op + "|" + x.http.URL.RequestURI() + "|" + string(x.body)
	r := &reading{x: x, lag: l, key: read, names: x.names()}
	for _, name := range r.names {
		r.histories = append(r.histories, s.historyOf(s.identity(x, x.service, name)))
	}
	if hidden := s.hidden(r); len(hidden) > 0 {
		return hideResources(x.request, a, hidden), "not found"
	}
	old := s.answers[read]
	if what := s.stale(r, a, old); what != "" {
		return old.clone(), what
	}
	if changed := s.lateTags(r, a, old); changed != nil {
		return changed, "tags"
	}
	if l.remembersAnswers() && len(a.body) <= maxRecordedAnswer {
		s.seq++
		s.answers[read] = recorded{s.seq, a.clone()}
	}
	return a, ""
}

// reading is a read with the histories of the resources that it names.
type reading struct {
	x         *exchange
	lag       Lag
	key       string
	names     []string
	histories []*history
}

// hidden returns the names of the resources that the read does not find.
func (s *state) hidden(r *reading) []string {
	if r.x.resource == "" {
		return nil
	}
	var names []string
	n := r.lag.NotFound
	for i, h := range r.histories {
		if s.covers(h, created, n.AfterCreate, r.key, n.Alternate) || s.covers(h, updated, n.AfterUpdate, r.key, n.Alternate) {
			names = append(names, r.names[i])
		}
	}
	return names
}

// stale says why an earlier answer is given to a read, if it is.
func (s *state) stale(r *reading, a *answer, old recorded) string {
	if old.answer == nil || isNotFound(r.x.request, old.answer) {
		return ""
	}
	window := r.lag.Settings
	if r.x.resource == "" {
		window = r.lag.Lists
	}
	gone := isNotFound(r.x.request, a)
	for _, h := range r.histories {
		switch {
		case gone && h.usable(deleted, old) && s.covers(h, deleted, r.lag.Deleted, r.key, false):
			return "not yet deleted"
		case !gone && h.usable(updated, old) && s.covers(h, updated, window, r.key, false):
			return "settings"
		}
	}
	return ""
}

// usable reports whether an earlier answer is of the present incarnation of the
// resource and not older than the lag behind the last write allows.
func (h *history) usable(e event, old recorded) bool {
	return old.answer != nil && old.seq > h.born && old.seq > h.last[e].floor
}

// lateTags returns the answer with other tags, or nil if its tags do not lag.
func (s *state) lateTags(r *reading, a *answer, old recorded) *answer {
	row := tagReadOf(r.x.request)
	if row == nil {
		return nil
	}
	for _, h := range r.histories {
		if !s.covers(h, tagged, r.lag.Tags.Window, r.key, false) {
			continue
		}
		switch {
		case r.lag.Tags.Empty && !row.neverEmpty:
			return row.withoutTags(r.x.request, a)
		case h.usable(tagged, old):
			return row.withTagsOf(r.x.request, a, old.answer)
		case h.last[tagged].floor < h.born && !row.neverEmpty: // it was just created
			return row.withoutTags(r.x.request, a)
		}
	}
	return nil
}

func (l Lag) remembersAnswers() bool {
	none := Window{}
	return l.Settings != none || l.Lists != none || l.Deleted != none || l.Tags.Window != none
}

func (a *answer) clone() *answer {
	return &answer{a.status, a.header.Clone(), bytes.Clone(a.body)}
}

// ok reports whether an answer is no error.
func (a *answer) ok() bool { return a.status < http.StatusMultipleChoices }

// names returns the resources that a request names.
func (x *exchange) names() []string {
	var names []string
	for key, values := range x.form {
		if strings.HasPrefix(key, "ResourceId.") && len(values) > 0 {
			names = append(names, values[0])
		}
	}
	if len(names) > 0 {
		slices.Sort(names)
		return names
	}
	return strings.Split(x.resource, ",")
}
