// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"
	"fmt"
	"reflect"
)

// Exporter is implemented by kinds that can declare a resource as it is in AWS.
type Exporter[CR any, S any] interface {
	// ExportIdentity returns the fields of the spec that identify a resource, by their names in JSON and the outermost
	// first; none where the kind cannot export.
	ExportIdentity() []string
	// Export reads all settings of the resource that cr identifies and sets the spec of cr so that nothing differs. It
	// leaves cr as it is when there is no such resource.
	Export(ctx context.Context, sc Scope, cr CR) (Seen[S], error)
	// SeparateSettings returns the settings that Export does not read.
	SeparateSettings() []SeparateSetting[S]
}

// SeparateSetting is a setting that no field says and that AWS shows only to a separate call. Imports make these calls, to name the
// setting; the operator does not.
type SeparateSetting[S any] struct {
	ImportRead
	// Read reports whether the resource has the setting. An error of a setting that is not there is none.
	Read func(ctx context.Context, have S) (bool, error)
}

// ImportRead names a setting that only an import reads.
type ImportRead struct {
	// Setting is the name that AWS has for it, as fields are written.
	Setting string
	// Action is the IAM action of the read.
	Action string
}

// If returns the setting for resources that can have it: AWS refuses the read of others.
func (s SeparateSetting[S]) If(can func(have S) bool) SeparateSetting[S] {
	read := s.Read
	s.Read = func(ctx context.Context, have S) (bool, error) {
		if !can(have) {
			return false, nil
		}
		return read(ctx, have)
	}
	return s
}

// ReadSeparately returns a setting that a call of an AWS client shows: has decides by the answer.
func ReadSeparately[S, In, Out, Opt any](read ImportRead, op func(context.Context, *In, ...func(*Opt)) (*Out, error), in func(S) *In,
	has func(*Out) bool) SeparateSetting[S] {
	return SeparateSetting[S]{ImportRead: read, Read: func(ctx context.Context, have S) (bool, error) {
		out, err := op(ctx, in(have))
		return err == nil && has(out), err
	}}
}

// OptionalIdentity ends the name of a field that does not identify every resource of its kind.
const OptionalIdentity = "?"

// Export says how a resource is declared as it is.
type Export[CR any, S any] struct {
	// Identity are the fields of the spec that identify a resource, by their names in JSON, the outermost first. The last one
	// ends in OptionalIdentity where not every resource has it.
	Identity []string
	// Ask adds to a wanted state the settings that Describe reads only on request, and reports whether another look is needed. It is called
	// before the first look, with have nil, and after it.
	Ask func(want, have *S) bool
	// Spec sets the spec so that nothing differs from a state.
	Spec func(cr CR, have S)
	// Omit returns, as sentences, the settings that Spec leaves out because no field can express them; nil is for kinds with specs that
	// express a whole state.
	Omit func(have S) []string
	// Unread returns the settings that no field expresses and no call of an import reads, because another service holds them. Each names
	// the check that a person should make. Nil is for none.
	Unread func(have S) []string
	// Separate are the settings that no field expresses and no part reads.
	Separate []SeparateSetting[S]
}

// ExportIdentity implements Exporter.
func (t *table[CR, S]) ExportIdentity() []string { return t.Table.Export.Identity }

// SeparateSettings implements Exporter.
func (t *table[CR, S]) SeparateSettings() []SeparateSetting[S] { return t.Table.Export.Separate }

// Export implements Exporter.
func (t *table[CR, S]) Export(ctx context.Context, sc Scope, cr CR) (Seen[S], error) {
	export := t.Table.Export
	if export.Spec == nil {
		return Seen[S]{}, fmt.Errorf("resources of this kind cannot be exported")
	}
	want, err := t.Identify(sc, cr)
	if err != nil {
		return Seen[S]{}, err
	}
	t.declareAll(&want)
	ask := export.Ask
	if ask == nil {
		ask = func(_, _ *S) bool { return false }
	}
	ask(&want, nil)
	seen, err := t.Observe(ctx, want, Look{})
	if err == nil && seen.Exists && ask(&want, &seen.State) {
		seen, err = t.Observe(ctx, want, Look{})
	}
	if err != nil || !seen.Exists {
		return seen, err
	}
	export.Spec(cr, seen.State)
	if export.Omit != nil {
		seen.Omitted = append(seen.Omitted, export.Omit(seen.State)...)
	}
	if export.Unread != nil {
		seen.Unread = export.Unread(seen.State)
	}
	return seen, nil
}

// declareAll declares every part that is read only where it is declared.
func (t *table[CR, S]) declareAll(want *S) {
	for _, p := range t.Parts {
		if p.Read != nil {
			declareFields(want, p.Fields)
		}
	}
}

// declareFields makes empty values of fields that are not declared.
func declareFields[S any](want *S, fields []string) {
	for _, name := range fields {
		switch f := fieldOf(want, name); {
		case !f.IsZero():
		case f.Kind() == reflect.Pointer:
			f.Set(reflect.New(f.Type().Elem()))
		case f.Kind() == reflect.Map:
			f.Set(reflect.MakeMap(f.Type()))
		}
	}
}
