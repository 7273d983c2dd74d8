// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"cmp"
	"context"
	"reflect"
	"slices"
)

// Table is a kind written as data: the calls that create, describe, tag and delete the resource, and its parts. FromTable derives the
// methods of Kind from it, so that a kind holds only the particulars of its AWS API. The state S must have a field Tags map[string]string
// tagged `drift:"tags"` unless Tagging is left out.
type Table[CR any, S any] struct {
	// Meta holds the facts that cannot be derived from the calls. FromTable adds the actions of the calls to its Reads and Writes.
	Meta Meta
	// Identify fills in the identity of the resource and the settings of its deletion. Deletion relies on it alone, so it must not fail
	// because of the rest of the spec.
	Identify func(sc Scope, cr CR) (S, error)
	// Declare adds the declared settings to the result of Identify, and checks the spec. It is not called while the object is being
	// deleted.
	Declare func(sc Scope, cr CR, want *S) error
	// Describe reads the resource. An absent or unusable one is Seen{}, never an error.
	Describe Read[S]
	// Explain turns a failure to read the tags or a part into a better error; nil returns it as it is.
	Explain func(err error, seen Seen[S]) error
	// Create creates the resource. The wanted tags travel inside wherever the API allows.
	Create Call[S]
	// SettleWithCreate lets the settings of the parts follow the create without a look in between. Not
	// for resources that accept no change while AWS creates them; ignored where the create's effect is
	// Ensures, because its success does not prove that the resource is new.
	SettleWithCreate func(want S) bool
	// DefaultsWhenNew reports that a resource that was just created has the default of every part that its create does not set. Those parts
	// are then not read before the first of them is written; the look after that reads all.
	DefaultsWhenNew bool
	Tagging         Tagging[S]
	Parts           []Part[S]
	// OneByOne sends the steps one after the other: in the order of their stages and, within a stage, the
	// tags first and then the parts in their order.
	OneByOne bool
	// Refuse is that of Refuser; nil refuses nothing.
	Refuse func(want, have S, diff Diff) error
	// Roles lists the roles that the resource acts as. An adoption is refused where the provider does not pass one of them.
	Roles Roles[S]
	// WhyNotAdopted returns a further reason against an adoption; nil is for kinds without one.
	WhyNotAdopted func(sc Scope, want, have S) (string, error)
	// Notes returns the conditions to report about the parts; nil for none.
	Notes func(want, have S) []Note
	// Holds reads why the resource must not be deleted now. It is called only while deleting.
	Holds func(ctx context.Context, want S, seen *Seen[S]) error
	// HoldsReads are the IAM actions that Holds uses.
	HoldsReads []string
	// Delete lists the calls that delete the resource. Each look sends the first call that is due by its When, and those that follow it
	// directly and are marked Then.
	Delete []Ending[S]
	// Stop lists the calls that stop the resource, in the same form; nil when it cannot be stopped.
	Stop []Ending[S]
	// Publish copies the values that AWS assigned into the status.
	Publish func(cr CR, s S)
	// Export says how an existing resource is declared.
	Export Export[CR, S]
}

// Read is an AWS read with the IAM actions that it uses.
type Read[S any] struct {
	Actions []string
	Do      func(ctx context.Context, want S, look Look) (Seen[S], error)
}

// Call is one AWS call with the IAM action that it needs.
type Call[S any] struct {
	Action string
	// Effect is the effect of the call on the resource as a whole. Table sets it for creates and deletes that leave it at its zero value.
	Effect Effect
	// Spares reports whether AWS refuses a delete while the resource holds data; nil is for deletes that take the data along.
	Spares func(want S) bool
	Do     func(ctx context.Context, want, have S) error
	// DoDiff is used instead of Do by the Write of a part if its request depends on the diff.
	DoDiff func(ctx context.Context, want, have S, diff Diff) error
	// DoForID is used instead of Do by creates if AWS assigns the identifier. The token is for the API's client token.
	DoForID func(ctx context.Context, want S, token string) (id string, err error)
}

// Explained returns the call with an explanation of the errors of Do.
func (c Call[S]) Explained(explain func(err error, want S) error) Call[S] {
	do := c.Do
	c.Do = func(ctx context.Context, want, have S) error { return explain(do(ctx, want, have), want) }
	return c
}

// Part is a group of settings that one call writes.
type Part[S any] struct {
	// Fields are the fields of S that the part settles.
	Fields []string
	// When reports whether this part settles its fields in the given state; nil is always. Several parts may
	// settle the same field where exactly one of them holds at a time.
	When func(want, have S) bool
	// Reads is the IAM action of Read; both are empty where Describe fills in the fields.
	Reads string
	// Read fills in the fields of have. It is called only when one of the fields is declared.
	Read func(ctx context.Context, want S, have *S) error
	// Write sets the fields.
	Write Call[S]
	// Clear is used instead of Write when all declared fields of the part are wanted to be empty; zero
	// when Write does both.
	Clear Call[S]
	// InCreate is true for fields that the create call sets.
	InCreate bool
	// Default reports whether a new resource has the wanted value, so that the part is not to be written with the
	// create; nil is where the wanted value is empty. A look verifies it.
	Default func(want S) bool
	// Again says how many more writes the fields take, each once AWS shows the one before; nil is none.
	Again func(want, have S) int
	// NeedsLook is true for a write that needs the result of Read, so that it is sent only after a look.
	NeedsLook bool
	// LookAfter lets a look follow the write before anything of a later stage is sent; see Step.
	LookAfter bool
	// Stage orders the steps of different parts: lower stages first; nil is stage 0, that of the tags.
	Stage func(want, have S) int
	// Each settles a map field key by key instead of Write, and Keys all of its keys at once.
	Each *Each[S]
	Keys *Keys[S]
}

// Each settles the entries of map fields by one call per key. Several parts may share a field: one without Set or Unset, or with Keys that
// exclude a key, leaves those changes to another part.
type Each[S any] struct {
	Set, Unset KeyCall[S]
	// Keys says which keys the part settles; nil is all.
	Keys func(key string) bool
	// Stage is used instead of the part's for the step that sets a key.
	Stage func(want S, key string) int
}

// KeyCall is one AWS call for one key of a map.
type KeyCall[S any] struct {
	Action string
	Do     func(ctx context.Context, want, have S, key string) error
}

// Tagging says how a resource's tags are read and written.
type Tagging[S any] struct {
	// Reads is the IAM action of List; both are empty where Describe fills in Seen.Tags.
	Reads string
	List  func(ctx context.Context, have S) (map[string]string, error)
	// Sets and Removes are the IAM actions of Set and Remove, which write exactly the given keys.
	Sets, Removes string
	Set           func(ctx context.Context, have S, tags map[string]string) error
	Remove        func(ctx context.Context, have S, keys []string) error
	// OwnerFirst requires a look after the write of the owner's tags before the next call is sent: rights on the resource depend on them.
	OwnerFirst bool
	// AfterCreate is true where the create carries no tags, so that another call sets them. The create's effect is then Ensures, and
	// Seen.Proven shows whether a resource without tags is the object's.
	AfterCreate bool
	// Replaces is the IAM action of Replace, which is used instead of Set and Remove where the API
	// replaces all tags at once.
	Replaces string
	Replace  func(ctx context.Context, have S, all map[string]string) error
	// OneByOne reports whether Set and Remove are used although there is a Replace; nil is never.
	OneByOne func(have S) bool
}

// Ending is a call on the way to the end of a resource.
type Ending[S any] struct {
	// When reports whether the call is due; nil is always.
	When func(want, have S) bool
	// Then sends the call together with the one before it, in a later stage.
	Then bool
	// Each repeats the call for each of the keys, by DoKey instead of Do: the policies of a role.
	Each  func(want, have S) []string
	DoKey func(ctx context.Context, want, have S, key string) error
	Call[S]
}

// calls returns the calls of the ending, one or one per key.
func (e Ending[S]) calls(want, have S) []Call[S] {
	if e.Each == nil {
		return []Call[S]{e.Call}
	}
	var out []Call[S]
	for _, key := range e.Each(want, have) {
		c := e.Call
		c.Do = func(ctx context.Context, want, have S) error { return e.DoKey(ctx, want, have, key) }
		out = append(out, c)
	}
	return out
}

type table[CR any, S any] struct {
	Table[CR, S]
	meta Meta
}

// stoppable adds Stopper to the kinds that can be stopped.
type stoppable[CR any, S any] struct{ *table[CR, S] }

// Stop implements Stopper.
func (t stoppable[CR, S]) Stop(want S, seen Seen[S]) []Step {
	return t.endings(t.Table.Stop, want, seen)
}

// FromTable derives a kind from its table.
func FromTable[CR any, S any](t Table[CR, S]) Kind[CR, S] {
	out := &table[CR, S]{Table: t}
	out.meta = out.derivedMeta()
	if len(t.Stop) > 0 {
		return stoppable[CR, S]{out}
	}
	return out
}

// Meta implements Kind.
func (t *table[CR, S]) Meta() Meta { return t.meta }

func (t *table[CR, S]) derivedMeta() Meta {
	m := t.Table.Meta
	m.JudgesAdoption = t.Table.WhyNotAdopted != nil || t.Roles.Of != nil || t.Roles.Read != nil
	m.Reads = slices.Concat(m.Reads, t.Describe.Actions, t.HoldsReads, t.Roles.Actions, []string{t.Tagging.Reads})
	m.Writes = slices.Concat(m.Writes, []string{t.Create.Action, t.Tagging.Sets, t.Tagging.Removes, t.Tagging.Replaces})
	for _, p := range t.Parts {
		m.Reads = append(m.Reads, p.Reads)
		m.Writes = append(m.Writes, p.Write.Action, p.Clear.Action)
		if p.Each != nil {
			m.Writes = append(m.Writes, p.Each.Set.Action, p.Each.Unset.Action)
		}
		if p.Keys != nil {
			m.Writes = append(m.Writes, p.Keys.Set.Action, p.Keys.Change.Action, p.Keys.Unset.Action)
		}
	}
	for _, e := range slices.Concat(t.Delete, t.Table.Stop) {
		m.Writes = append(m.Writes, e.Action)
	}
	for _, s := range t.Table.Export.Separate {
		m.ImportReads = append(m.ImportReads, s.ImportRead)
	}
	m.Reads, m.Writes = distinctActions(m.Reads), distinctActions(m.Writes)
	return m
}

func distinctActions(actions []string) []string {
	actions = slices.DeleteFunc(slices.Clone(actions), func(a string) bool { return a == "" })
	slices.Sort(actions)
	return slices.Compact(actions)
}

// Desired implements Kind.
func (t *table[CR, S]) Desired(sc Scope, cr CR) (S, error) {
	want, err := t.Identify(sc, cr)
	if err != nil {
		return want, err
	}
	if t.tagged() {
		fieldOf(&want, "Tags").Set(reflect.ValueOf(sc.Tags))
	}
	if sc.Deleting || t.Declare == nil {
		return want, nil
	}
	return want, t.Declare(sc, cr, &want)
}

func (t *table[CR, S]) tagged() bool {
	return t.Tagging.Sets != "" || t.Tagging.Replaces != ""
}

// Publish implements Kind.
func (t *table[CR, S]) Publish(cr CR, s S) { t.Table.Publish(cr, s) }

// Observe implements Kind: it describes the resource, then reads its tags and each declared part at
// the same time. Parts of a resource that AWS is still creating are not read.
func (t *table[CR, S]) Observe(ctx context.Context, want S, look Look) (Seen[S], error) {
	seen, err := t.Describe.Do(ctx, want, look)
	if err != nil || !seen.Exists {
		return seen, err
	}
	err = t.readParts(ctx, want, look, &seen)
	if err == nil && look.Deleting && t.Holds != nil {
		err = t.Holds(ctx, want, &seen)
	}
	if err != nil {
		if t.Explain != nil {
			err = t.Explain(err, seen)
		}
		return Seen[S]{}, err
	}
	if t.Table.Notes != nil && !look.Deleting {
		seen.Notes = append(seen.Notes, t.Table.Notes(want, seen.State)...)
	}
	if t.tagged() {
		fieldOf(&seen.State, "Tags").Set(reflect.ValueOf(seen.Tags))
	}
	return seen, nil
}

// readParts reads the tags and the declared parts at the same time.
func (t *table[CR, S]) readParts(ctx context.Context, want S, look Look, seen *Seen[S]) error {
	have := seen.State
	var group Group
	group.Go(func() error { return t.readTags(ctx, want, look, seen) })
	if !look.Deleting && (seen.Busy == "" || seen.Usable) {
		assume := look.New && t.writesWhenNew(want)
		for _, p := range t.Parts {
			switch {
			case p.Read == nil || !isDeclared(want, p.Fields):
			case assume && p.mayBeAssumed(want):
				p.assumeDefault(want, &have)
			default:
				group.Go(func() error { return p.Read(ctx, want, &have) })
			}
		}
	}
	err := group.Wait()
	seen.State = have
	return err
}

func (t *table[CR, S]) readTags(ctx context.Context, want S, look Look, seen *Seen[S]) error {
	if t.Tagging.List == nil {
		return nil
	}
	if look.TagsKnown {
		seen.Tags = fieldOf(&want, "Tags").Interface().(map[string]string)
		return nil
	}
	tags, err := t.Tagging.List(ctx, seen.State)
	seen.Tags = tags
	return err
}

func fieldOf[S any](s *S, name string) reflect.Value {
	return reflect.ValueOf(s).Elem().FieldByName(name)
}

// isDeclared reports whether any of the fields is managed.
func isDeclared[S any](want S, fields []string) bool {
	return slices.ContainsFunc(fields, func(f string) bool { return !fieldOf(&want, f).IsZero() })
}

// wantedEmpty reports whether every declared field of the part is wanted to be empty.
func wantedEmpty[S any](want S, fields []string) bool {
	return !slices.ContainsFunc(fields, func(f string) bool {
		v := fieldOf(&want, f)
		if v.Kind() == reflect.Pointer && !v.IsNil() {
			v = v.Elem()
		}
		if v.Kind() == reflect.Slice || v.Kind() == reflect.Map {
			return v.Len() > 0
		}
		return !v.IsZero()
	})
}

// WhyNotAdopted implements Adopter.
func (t *table[CR, S]) WhyNotAdopted(ctx context.Context, sc Scope, want, have S) (string, error) {
	if t.Table.WhyNotAdopted != nil {
		if why, err := t.Table.WhyNotAdopted(sc, want, have); why != "" || err != nil {
			return why, err
		}
	}
	return t.Roles.whyNotAdopted(ctx, sc, want, have)
}

// Refuse implements Refuser.
func (t *table[CR, S]) Refuse(want S, seen Seen[S], diff Diff) error {
	if t.Table.Refuse == nil {
		return nil
	}
	return t.Table.Refuse(want, seen.State, diff)
}

// Converge implements Kind.
func (t *table[CR, S]) Converge(want S, seen Seen[S], diff Diff) []Step {
	if !seen.Exists {
		return t.create(want, seen.State)
	}
	steps := t.tagSteps(want, seen, diff)
	if t.Tagging.OwnerFirst && slices.ContainsFunc(diff, Change.MarksOwner) {
		for i := range steps {
			steps[i].Stage, steps[i].LookAfter = stageOfOwner, true
		}
	}
	for _, p := range t.Parts {
		steps = append(steps, t.partSteps(p, want, seen.State, diff)...)
	}
	return t.ordered(steps)
}

// stageOfOwner precedes those of all parts.
const stageOfOwner = -10

// ordered gives each step its own stage where the steps are to be sent one by one.
func (t *table[CR, S]) ordered(steps []Step) []Step {
	if t.OneByOne {
		slices.SortStableFunc(steps, func(a, b Step) int { return cmp.Compare(a.Stage, b.Stage) })
		for i := range steps {
			steps[i].Stage = i
		}
	}
	return steps
}

func (t *table[CR, S]) create(want, have S) []Step {
	c := t.Create
	if c.Effect == Sets {
		c.Effect = Creates
	}
	steps := []Step{step(c, want, have)}
	if !t.settlesWithCreate(c.Effect, want) {
		return steps
	}
	with := func(p Part[S]) bool { return !p.NeedsLook }
	return t.ordered(append(steps, t.newSettings(want, have, with)...))
}

// settlesWithCreate reports whether the create and the other settings are sent without a look in between.
func (t *table[CR, S]) settlesWithCreate(create Effect, want S) bool {
	return create != Ensures && t.SettleWithCreate != nil && t.SettleWithCreate(want)
}

// Follow implements Follower.
func (t *table[CR, S]) Follow(want S) []Step {
	after := func(p Part[S]) bool { return p.NeedsLook || !t.settlesWithCreate(t.Create.Effect, want) }
	var nothing S
	return append(t.firstTags(want), t.newSettings(want, nothing, after)...)
}

// firstTags returns the step that gives a new resource its tags, where the create does not.
func (t *table[CR, S]) firstTags(want S) []Step {
	if !t.Tagging.AfterCreate {
		return nil
	}
	var diff Diff
	for _, path := range KeyPaths("Tags", wantedKeys(want, "Tags")) {
		diff = append(diff, Change{Path: path})
	}
	return t.tagSteps(want, Seen[S]{}, diff)
}

// Continue implements Follower.
func (t *table[CR, S]) Continue(want, have S, diff Diff) []Step {
	var steps []Step
	for _, p := range t.Parts {
		if p.Again != nil && diff.Under(p.Fields...) {
			steps = append(steps, slices.Repeat([]Step{step(p.Write, want, have, p.Fields...)}, max(0, p.Again(want, have)))...)
		}
	}
	return steps
}

// newSettings returns the steps that give a new resource the settings that its create does not set, of the given parts.
func (t *table[CR, S]) newSettings(want, have S, of func(Part[S]) bool) []Step {
	var steps []Step
	for _, p := range t.Parts {
		if !of(p) || !p.afterCreate(want) || isDefault(p, want) || p.When != nil && !p.When(want, have) {
			continue
		}
		for _, s := range newPartSteps(p, want, have) {
			s.Stage++
			steps = append(steps, s)
		}
	}
	return steps
}

// newPartSteps returns the steps that give a new resource the wanted values of a part.
func newPartSteps[S any](p Part[S], want, have S) []Step {
	switch {
	case p.Each != nil:
		return eachSteps(p, want, have, newEntries(p, want))
	case p.Keys != nil:
		return keysSteps(p, want, have, newEntries(p, want))
	}
	s := step(p.Write, want, have, p.Fields...)
	if p.Stage != nil {
		s.Stage = p.Stage(want, have)
	}
	return []Step{s}
}

// wantedKeys returns the keys with non-nil values of a map field, in order.
func wantedKeys[S any](want S, field string) []string {
	var keys []string
	for it := fieldOf(&want, field).MapRange(); it.Next(); {
		if v := it.Value(); v.Kind() != reflect.Pointer || !v.IsNil() {
			keys = append(keys, it.Key().String())
		}
	}
	slices.Sort(keys)
	return keys
}

func isDefault[S any](p Part[S], want S) bool {
	if p.Default != nil {
		return p.Default(want)
	}
	return wantedEmpty(want, p.Fields)
}

func (t *table[CR, S]) partSteps(p Part[S], want, have S, diff Diff) []Step {
	if !diff.Under(p.Fields...) || p.When != nil && !p.When(want, have) {
		return nil
	}
	switch {
	case p.Each != nil:
		return eachSteps(p, want, have, diff)
	case p.Keys != nil:
		return keysSteps(p, want, have, diff)
	}
	c := p.Write
	if c.DoDiff != nil {
		c.Do = func(ctx context.Context, want, have S) error { return c.DoDiff(ctx, want, have, diff) }
	}
	if p.Clear.Do != nil && wantedEmpty(want, p.Fields) {
		c = p.Clear
	}
	s := step(c, want, have, p.Fields...)
	if s.LookAfter = p.LookAfter; p.Stage != nil {
		s.Stage = p.Stage(want, have)
	}
	return []Step{s}
}

func (t *table[CR, S]) tagSteps(want S, seen Seen[S], diff Diff) []Step {
	if !t.tagged() || !diff.Under("Tags") {
		return nil
	}
	set, remove := diff.Keys("Tags")
	tags := fieldOf(&want, "Tags").Interface().(map[string]string)
	have := seen.State
	if t.Tagging.Replace != nil && (t.Tagging.OneByOne == nil || !t.Tagging.OneByOne(have)) {
		all := MergeTags(seen.Tags, Only(tags, set), remove)
		return []Step{step(Call[S]{Action: t.Tagging.Replaces, Do: func(ctx context.Context, _, have S) error {
			return t.Tagging.Replace(ctx, have, all)
		}}, want, have, "Tags")}
	}
	var steps []Step
	if len(set) > 0 {
		steps = append(steps, step(Call[S]{Action: t.Tagging.Sets, Do: func(ctx context.Context, _, have S) error {
			return t.Tagging.Set(ctx, have, Only(tags, set))
		}}, want, have, KeyPaths("Tags", set)...))
	}
	if len(remove) > 0 {
		steps = append(steps, step(Call[S]{Action: t.Tagging.Removes, Do: func(ctx context.Context, _, have S) error {
			return t.Tagging.Remove(ctx, have, remove)
		}}, want, have, KeyPaths("Tags", remove)...))
	}
	return steps
}

// Remove implements Kind.
func (t *table[CR, S]) Remove(want S, seen Seen[S]) []Step { return t.endings(t.Delete, want, seen) }

func (t *table[CR, S]) endings(list []Ending[S], want S, seen Seen[S]) []Step {
	var steps []Step
	for _, e := range list {
		due := e.When == nil || e.When(want, seen.State)
		if len(steps) > 0 && !e.Then {
			break
		}
		if !due {
			continue
		}
		for _, c := range e.calls(want, seen.State) {
			s := step(c, want, seen.State)
			s.Stage = len(steps)
			steps = append(steps, s)
		}
	}
	return steps
}

func step[S any](c Call[S], want, have S, fixes ...string) Step {
	return Step{Action: c.Action, Effect: c.Effect, Spares: c.Spares != nil && c.Spares(want), Fixes: fixes,
		Do: func(ctx context.Context, token string) (string, error) {
			if c.DoForID != nil {
				return c.DoForID(ctx, want, token)
			}
			return "", c.Do(ctx, want, have)
		}}
}

// KeyPaths are the diff paths of keys of a map field.
func KeyPaths(field string, keys []string) []string {
	out := make([]string, 0, len(keys))
	for _, k := range keys {
		out = append(out, field+"["+k+"]")
	}
	return out
}
