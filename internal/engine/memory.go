// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

const (
	// settleDefault bounds the time until AWS shows a write to every read, where the kind does not say.
	// Tag lists are documented to be empty for seconds after a write.
	// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_ListTagsOfResource.html
	settleDefault = 30 * time.Second
	// absenceGap is the time between the two looks that verify the absence of a resource.
	absenceGap = 5 * time.Second
	// wroteFor is the time after a write during which a change that AWS is about to make may be that write.
	wroteFor = 10 * time.Minute
	// maxWritePause bounds the growing pauses between two writes of the same value.
	maxWritePause = 10 * time.Minute
	// maxUnsettledWrites limits the writes of a value before the object is reported as NotSettling.
	maxUnsettledWrites = 3
)

// Memory holds the state that the process keeps for one object between its passes: the writes with their times, and the time since when AWS
// shows a state that may be stale. A restart loses it, which costs time, never safety. The zero value is ready. It is used by one pass at a
// time.
type Memory struct {
	writes map[string]*write
	// untaggedSince and absentSince are the first of an unbroken series of such looks.
	untaggedSince, absentSince time.Time
	// createdAt is the time when AWS acknowledged a create, existsAt the time of an answer to a create that proves only that the resource
	// exists, deletedAt the time when AWS acknowledged a delete.
	createdAt, existsAt, deletedAt time.Time
	// createdIn is the place of the acknowledged create.
	createdIn string
	// deletes counts the acknowledged deletes.
	deletes int
	// attempted is true once this process was about to record a create, and attemptAt is the time in its last record;
	// createOpen is true while the outcome of some create, sent by this process or recorded by another, is not known.
	attempted, createOpen bool
	attemptAt             time.Time
	// refusedAt is the time in the record of the last create that AWS answered without carrying it out.
	refusedAt time.Time
	// untouched is true from an acknowledged create until the next call that writes to the resource is sent.
	untouched bool
	// retried is the last request of a person that made the process forget the writes it had given up.
	retried string
	// reported is the last request that was reported as failed.
	reported string
	// provided is the hash of the additions of the provider to the desired state when AWS was last seen as declared; nil before that, and
	// then the status has it.
	provided *string
	// notEmpty is true once AWS refused to delete the resource because of its contents.
	notEmpty bool
}

// maxEffects limits the writes of one value that each have an effect, such as the upgrades to one version after the other.
const maxEffects = 20

// write is the last write of one path.
type write struct {
	sum   string
	at    time.Time
	times int
	// haves are the values that AWS showed before the writes of this value.
	haves []string
	// shown is true once AWS showed the value; differs is since when it shows another one again.
	shown   bool
	differs time.Time
	// created is true when the write created a member of the resource, with the tags of this hash.
	created bool
	tags    string
}

// pause returns how long a value that was written is not written again.
func (w *write) pause(settle time.Duration) time.Duration {
	return growingPause(settle, w.times)
}

// due reports whether a change of a plan is to be written (again). A value that several writes did not bring about is written again
// only when the wanted value changes, or AWS shows one that it did not show before; a deletion goes on.
func (w *write) due(p Plan, c kind.Change, settle time.Duration, now time.Time) bool {
	switch {
	case w.sum != c.Sum, w.drifted(now):
		return true
	case w.isGivenUp() && p.Cause != Deleting:
		return !slices.Contains(w.haves, c.Have) && (len(w.haves) < maxEffects || now.Sub(w.at) >= w.pause(settle))
	default:
		return now.Sub(w.at) >= w.pause(settle)
	}
}

// isGivenUp reports whether AWS acknowledged several writes of a value and never showed it, so that the object is reported.
func (w *write) isGivenUp() bool { return w.times >= maxUnsettledWrites && !w.shown }

// Retry forgets which writes were given up, so that the values are written again, once for each request of a person.
func (m *Memory) Retry(request string) {
	if m.retried == request {
		return
	}
	m.retried = request
	maps.DeleteFunc(m.writes, func(_ string, w *write) bool { return w.isGivenUp() })
}

// drifted reports whether a value that AWS had shown was changed since: looks apart in time show another one.
func (w *write) drifted(now time.Time) bool {
	return !w.differs.IsZero() && now.Sub(w.differs) >= absenceGap
}

func growingPause(settle time.Duration, times int) time.Duration {
	d := settle
	for range min(times-1, 8) {
		d *= 2
	}
	return min(d, max(maxWritePause, settle))
}

// recordLook updates the series of looks after a decision. A look that failed proves nothing and ends them.
func (m *Memory) recordLook(p Plan, err error, settle time.Duration, now time.Time) {
	startOrClear(&m.absentSince, !p.Exists && err == nil, now)
	startOrClear(&m.untaggedSince, p.Exists && p.Cause == Unowned, now)
	if err != nil || !p.Exists || p.Cause == Unowned || p.Cause == Busy {
		return
	}
	for path, w := range m.writes {
		if p.Diff.Under(path) {
			startOrClear(&w.differs, w.shown, now)
			continue
		}
		w.shown, w.differs = true, time.Time{}
		if now.Sub(w.at) >= settle {
			delete(m.writes, path)
		}
	}
}

// startOrClear keeps the time since when a fact holds without a break.
func startOrClear(t *time.Time, holds bool, now time.Time) {
	switch {
	case !holds:
		*t = time.Time{}
	case t.IsZero():
		*t = now
	}
}

// recordAttempt notes that a create is about to be recorded at a time, and then sent; earlier is the time in the record
// before, zero without one.
func (m *Memory) recordAttempt(earlier, at time.Time) {
	m.createOpen = m.createOpen || !earlier.IsZero() && !earlier.Equal(m.attemptAt)
	m.attempted, m.attemptAt = true, at
}

// createFailed reports whether every create that was ever sent is known to have had no effect. This process knows that only of its own
// creates: if the object has another record, a second operator came first, and its create may be under way.
func (m *Memory) createFailed(recorded *Intent) bool {
	mine := recorded == nil || recorded.At.Equal(m.attemptAt)
	return m.attempted && mine && !m.createOpen && m.createdAt.IsZero() && m.existsAt.IsZero()
}

// wasRefused reports whether AWS answered the recorded create without carrying it out, so that no resource of it will appear.
func (m *Memory) wasRefused(recorded *Intent) bool {
	return !m.refusedAt.IsZero() && recorded.At.Equal(m.refusedAt)
}

// recordFailed forgets the writes of a plan: AWS had accepted them, and failed to carry them out. They may be sent again.
func (m *Memory) recordFailed(failed *kind.FailedRequest, p Plan) {
	m.reported = failed.Request
	m.createdIn, m.createdAt, m.existsAt, m.deletedAt, m.deletes = "", time.Time{}, time.Time{}, time.Time{}, 0
	for _, c := range p.Diff {
		delete(m.writes, c.Path)
	}
}

// lastWrite returns the time when AWS last acknowledged a create or a changed setting; zero when none is remembered.
func (m *Memory) lastWrite() time.Time {
	last := m.createdAt
	for _, w := range m.writes {
		if w.at.After(last) {
			last = w.at
		}
	}
	return last
}

// mustShow is since when AWS is known to have the resource; zero while it is not.
func (m *Memory) mustShow() time.Time {
	if m.existsAt.After(m.createdAt) {
		return m.existsAt
	}
	return m.createdAt
}

// created reports whether AWS acknowledged a create within the settle time.
func (m *Memory) created(settle time.Duration, now time.Time) bool {
	return !m.createdAt.IsZero() && now.Sub(m.createdAt) < settle
}

// recordWrite records an acknowledged step.
func (m *Memory) recordWrite(s kind.Step, p Plan, now time.Time) {
	diff, fixes := p.Diff, s.Fixes
	switch s.Effect {
	case kind.Creates:
		m.createdAt, fixes = now, append(slices.Clone(fixes), "Tags") // the tags travel inside the create
	case kind.Ensures:
		m.existsAt = now
	case kind.Deletes, kind.Ends:
		m.deletedAt = now
		m.deletes++
	}
	if p.creates() {
		diff = p.sets
	}
	if s.Effect == kind.Empties {
		diff = removalsOf(s)
	}
	for _, c := range diff {
		if (kind.Diff{c}).Under(fixes...) {
			w := m.lastWriteOf(c, now)
			w.created, w.tags = s.Effect == kind.Creates && (kind.Diff{c}).Under(s.Fixes...), p.tagsSum
		}
	}
}

// removalsOf are the changes of a step that deletes members of the resource while the object is deleted.
func removalsOf(s kind.Step) kind.Diff {
	var out kind.Diff
	for _, path := range s.Fixes {
		out = append(out, kind.Change{Path: path, Want: unset, Sum: sumOf(unset), Gone: true})
	}
	return out
}

// recordEffect records that members exist, after AWS refused their creates for that reason.
func (m *Memory) recordEffect(fixes []string, p Plan, now time.Time) {
	diff := p.Diff
	if p.creates() {
		diff = p.sets
	}
	for _, c := range diff {
		if (kind.Diff{c}).Under(fixes...) {
			m.lastWriteOf(c, now)
		}
	}
}

// members returns the paths of creates that AWS acknowledged within the settle time, with a hash of the tags that each create carried.
func (m *Memory) members(settle time.Duration, now time.Time) map[string]string {
	var out map[string]string
	for path, w := range m.writes {
		if !w.created || now.Sub(w.at) >= settle {
			continue
		}
		if out == nil {
			out = map[string]string{}
		}
		out[path] = w.tags
	}
	return out
}

func (m *Memory) lastWriteOf(c kind.Change, now time.Time) *write {
	if m.writes == nil {
		m.writes = map[string]*write{}
	}
	w := m.writes[c.Path]
	if w == nil || w.sum != c.Sum || w.shown { // a value that was shown once and differs now has drifted again
		w = &write{sum: c.Sum}
		m.writes[c.Path] = w
	}
	// Where AWS shows a value that it did not show before, the last write had an effect: a version is reached by several writes.
	// Reads that lag show the same values in turn.
	if !slices.Contains(w.haves, c.Have) && len(w.haves) < maxEffects {
		w.haves, w.times = append(w.haves, c.Have), 0
	}
	w.at, w.shown = now, false
	w.times++
	if member := m.writes[memberOf(c.Path)]; member != nil && member != w {
		member.created = false // changed since
	}
	return w
}

// memberOf returns the path of the map element that path lies in: Parameters[a] for Parameters[a].Value.
func memberOf(path string) string {
	return path[:strings.Index(path, "]")+1]
}

// untagged reports whether AWS acknowledged the removal of the owner's UID tag.
func (m *Memory) untagged() bool {
	w := m.writes["Tags["+wellknown.TagOwnerUID+"]"]
	return w != nil && w.sum == sumOf(unset)
}

// due splits a plan's steps into those to send now and the changes that earlier writes must settle first. A step is not sent again if all
// its changes were written within their pause.
func (m *Memory) due(p Plan, settle time.Duration, now time.Time) (steps []kind.Step, pending kind.Diff) {
	for _, s := range p.Steps {
		waiting := m.pending(s, p, settle, now)
		if waiting == nil {
			steps = append(steps, s)
			continue
		}
		pending = append(pending, waiting...)
	}
	return steps, pending
}

// pending returns the changes of a step when none of them needs a write now; nil when one does.
func (m *Memory) pending(s kind.Step, p Plan, settle time.Duration, now time.Time) kind.Diff {
	diff := p.Diff
	if s.Effect == kind.Deletes || s.Effect == kind.Ends {
		if m.deletes > 0 && now.Sub(m.deletedAt) < growingPause(settle, m.deletes) {
			return kind.Diff{{}}
		}
		return nil
	}
	if s.Effect == kind.Empties {
		diff = removalsOf(s)
	}
	var out kind.Diff
	for _, c := range diff {
		if !(kind.Diff{c}).Under(s.Fixes...) {
			continue
		}
		if w := m.writes[c.Path]; w == nil || w.due(p, c, settle, now) {
			return nil
		}
		out = append(out, c)
	}
	return out
}

// unsettled describes changes that AWS acknowledged and does not show: still to be waited for, or, after
// repeated writes, a failure that a person must look at.
func (m *Memory) unsettled(p Plan, pending kind.Diff, now time.Time) error {
	c := pending[0]
	w := m.writes[c.Path]
	if w == nil {
		return &status.Waiting{Reason: status.ReasonDeleting, For: "AWS to complete the deletion", After: nextLook(now.Sub(m.deletedAt))}
	}
	if w.isGivenUp() {
		message := fmt.Sprintf("%s does not keep its value: AWS acknowledged %d writes of %s and still shows %s; %s", c.Path, w.times, c.Want,
			c.Have, p.whyUnsettled(c))
		if p.Cause != Deleting {
			message += ". It is not written again until one of both values changes or a check is requested (nexusctl reconcile)"
		}
		return &status.Stalled{Reason: status.ReasonNotSettling, Message: message}
	}
	return &status.Waiting{Reason: status.ReasonProgressing, For: "AWS to show the change of " + c.Path, After: nextLook(now.Sub(w.at))}
}

// whyUnsettled explains why AWS may show another value than the written one, with a remedy: the note of the kind about the last update, or
// another writer.
func (p Plan) whyUnsettled(c kind.Change) string {
	for _, n := range p.Notes {
		if n.Recheck && !n.True && !n.Unknown {
			return n.Message
		}
	}
	if field := p.leaveAlone(c); field != "" {
		return "look for another writer of this resource, declare the value that AWS shows, or leave the property alone with " + field
	}
	return "look for another writer of this resource, or declare the value that AWS shows"
}

// maxBusyPause bounds the pause that AWS asks for during an operation: the operation may end sooner than AWS expects.
const maxBusyPause = 5 * time.Minute

// pauseUntil returns how long to wait before the next look at an operation if AWS named a time for it. It is 0, for the growing pauses of
// every other wait, if AWS named no time, or a time in the past.
func pauseUntil(at, now time.Time) time.Duration {
	if !at.After(now) {
		return 0
	}
	return min(max(at.Sub(now), time.Second), maxBusyPause)
}

// nextLook returns how long to wait before the next look at something that AWS acknowledged this long ago.
func nextLook(elapsed time.Duration) time.Duration {
	return min(max(elapsed.Truncate(time.Second), time.Second), 5*time.Second)
}
