// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// Entry is a kind without its type parameters, so that one list can hold all kinds.
type Entry interface {
	// Name is the Kubernetes kind, such as S3Bucket.
	Name() string
	// New returns an empty object of the kind.
	New() v1alpha1.Resource
	// Meta is the kind's.
	Meta() kind.Meta
	// ExportIdentity is that of kind.Exporter; none where existing resources of the kind cannot be declared.
	ExportIdentity() []string
	// Bind builds the kind for one identity. A binding is safe for concurrent use and is to be kept as
	// long as the identity: its SDK client learns, for example, by how much the local clock is off.
	Bind(cfg aws.Config) Binding
}

// Binding is a kind bound to one account, region and identity.
type Binding interface {
	// Decide is the package's Decide. It writes nothing.
	Decide(ctx context.Context, sc kind.Scope, o Owner, cr v1alpha1.Resource) (Plan, error)
	// Export sets the spec of cr, with its tags, to the state in AWS of the resource that it identifies; see kind.Exporter.
	Export(ctx context.Context, sc kind.Scope, cr v1alpha1.Resource) (Exported, error)
}

// Exported holds the results of Export other than the spec.
type Exported struct {
	Exists bool
	// Tags holds the tags of the resource, with those of its owner and of AWS.
	Tags map[string]string
	// Omitted lists the settings that the spec leaves out, and why. Unread lists the settings that it may leave out and nothing reads.
	Omitted, Unread []string
	// Published is a copy of the object with the status that the resource gives it; nil where there is none.
	Published v1alpha1.Resource
	// Busy and Created are those of kind.Seen.
	Busy    string
	Created time.Time
	// Separate are the settings that Export did not read.
	Separate []SeparateSetting
}

// SeparateSetting is a kind.SeparateSetting of the exported resource.
type SeparateSetting struct {
	kind.ImportRead
	Read func(ctx context.Context) (bool, error)
}

// Object is a pointer to a custom resource's struct.
type Object[T any] interface {
	*T
	v1alpha1.Resource
}

// For makes an Entry of a kind's constructor; inference finds the types.
func For[T any, CR Object[T], S any](build func(aws.Config) kind.Kind[CR, S]) Entry {
	k := build(aws.Config{})
	e := entry[T, CR, S]{build: build, meta: k.Meta()}
	if spec, ok := reflect.TypeFor[T]().FieldByName("Spec"); ok {
		e.meta.Judges = lookupsOf(spec.Type, map[reflect.Type]bool{})
	}
	if x, ok := k.(kind.Exporter[CR, S]); ok {
		e.identity = x.ExportIdentity()
	}
	return e
}

type entry[T any, CR Object[T], S any] struct {
	build func(aws.Config) kind.Kind[CR, S]
	meta  kind.Meta
	// identity is that of an exporter.
	identity []string
}

func (e entry[T, CR, S]) Name() string             { return reflect.TypeFor[T]().Name() }
func (e entry[T, CR, S]) New() v1alpha1.Resource   { return CR(new(T)) }
func (e entry[T, CR, S]) Meta() kind.Meta          { return e.meta }
func (e entry[T, CR, S]) ExportIdentity() []string { return e.identity }

func (e entry[T, CR, S]) Bind(cfg aws.Config) Binding {
	return binding[T, CR, S]{name: e.Name(), kind: e.build(cfg)}
}

type binding[T any, CR Object[T], S any] struct {
	name string
	kind kind.Kind[CR, S]
}

func (b binding[T, CR, S]) Decide(ctx context.Context, sc kind.Scope, o Owner, obj v1alpha1.Resource) (Plan, error) {
	cr, ok := obj.(CR)
	if !ok {
		return Plan{}, fmt.Errorf("%s cannot decide for %T", b.name, obj)
	}
	return Decide(ctx, b.kind, sc, o, cr)
}

func (b binding[T, CR, S]) Export(ctx context.Context, sc kind.Scope, obj v1alpha1.Resource) (Exported, error) {
	cr, ok := obj.(CR)
	x, exports := b.kind.(kind.Exporter[CR, S])
	if !ok || !exports {
		return Exported{}, fmt.Errorf("%s cannot declare an existing resource in %T", b.name, obj)
	}
	seen, err := x.Export(ctx, sc, cr)
	out := Exported{Exists: seen.Exists, Tags: seen.Tags, Omitted: seen.Omitted, Unread: seen.Unread, Busy: seen.Busy, Created: seen.Created}
	if err == nil && seen.Exists {
		obj.CommonSpec().Tags = usersTags(seen.Tags)
		published := obj.DeepCopyObject().(CR)
		b.kind.Publish(published, seen.State)
		out.Published = published
		for _, s := range x.SeparateSettings() {
			out.Separate = append(out.Separate,
				SeparateSetting{s.ImportRead, func(ctx context.Context) (bool, error) { return s.Read(ctx, seen.State) }})
		}
	}
	return out, err
}

// usersTags are tags without those that mark an owner and those of AWS, which no object may declare; nil for none.
func usersTags(all map[string]string) map[string]v1alpha1.TagValue {
	var out map[string]v1alpha1.TagValue
	for k, v := range all {
		if strings.HasPrefix(k, "aws:") || strings.HasPrefix(k, wellknown.Prefix) {
			continue
		}
		if out == nil {
			out = map[string]v1alpha1.TagValue{}
		}
		out[k] = v1alpha1.TagValue(v)
	}
	return out
}
