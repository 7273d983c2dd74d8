package engine

import (
	"context"
	"fmt"
	"reflect"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// Entry is a kind with its types forgotten, so that one list can hold them all.
type Entry interface {
	// Name is the Kubernetes kind, such as S3Bucket.
	Name() string
	// New returns an empty object of the kind.
	New() v1alpha1.Resource
	// Meta is the kind's.
	Meta() kind.Meta
	// Decide is the package's Decide for one identity. It writes nothing.
	Decide(ctx context.Context, cfg aws.Config, sc kind.Scope, o Owner, cr v1alpha1.Resource) (Plan, error)
}

// Object is a pointer to a custom resource's struct.
type Object[T any] interface {
	*T
	v1alpha1.Resource
}

// For makes an Entry of a kind's constructor; inference finds the types.
func For[T any, CR Object[T], S any](build func(aws.Config) kind.Kind[CR, S]) Entry {
	return entry[T, CR, S]{build: build, meta: build(aws.Config{}).Meta()}
}

type entry[T any, CR Object[T], S any] struct {
	build func(aws.Config) kind.Kind[CR, S]
	meta  kind.Meta
}

func (e entry[T, CR, S]) Name() string           { return reflect.TypeFor[T]().Name() }
func (e entry[T, CR, S]) New() v1alpha1.Resource { return CR(new(T)) }
func (e entry[T, CR, S]) Meta() kind.Meta        { return e.meta }

func (e entry[T, CR, S]) Decide(ctx context.Context, cfg aws.Config, sc kind.Scope, o Owner, obj v1alpha1.Resource) (Plan, error) {
	cr, ok := obj.(CR)
	if !ok {
		return Plan{}, fmt.Errorf("%s cannot decide for %T", e.Name(), obj)
	}
	return Decide(ctx, e.build(cfg), sc, o, cr)
}
