// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/nexus-operator/nexus-operator/internal/awsschema"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// maxSchemas limits the schemas that are kept for one identity. One takes 150 KiB of memory on average.
const maxSchemas = 128

// unusedFor limits how long a schema is kept that no object uses. Objects are checked more often by default; with a --check-interval of
// more than an hour, a check reads the schema again.
const unusedFor = time.Hour

// schemas reads the schemas of types once and keeps those that were used last. It is safe for concurrent use.
type schemas struct {
	api *cloudformation.Client

	mu      sync.Mutex
	kept    []*keptSchema            // the one that was used last comes first
	reading map[string]chan struct{} // the types that are being read; closed once they were
}

// keptSchema is a schema that is in use.
type keptSchema struct {
	*awsschema.Type
	unused *time.Timer // forgets the schema
}

// of returns the schema of a type. Those who need one at the same time share the read of it.
func (s *schemas) of(ctx context.Context, typeName string) (*awsschema.Type, error) {
	for {
		t, others := s.join(typeName)
		switch {
		case t != nil:
			return t, nil
		case others == nil:
			defer s.leave(typeName)
			return s.read(ctx, typeName)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-others:
		}
	}
}

// join returns a schema that is kept, or a channel that is closed once another caller has read it. Without both, the caller reads it.
func (s *schemas) join(typeName string) (*awsschema.Type, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.use(typeName); t != nil {
		return t, nil
	}
	if others := s.reading[typeName]; others != nil {
		return nil, others
	}
	if s.reading == nil {
		s.reading = map[string]chan struct{}{}
	}
	s.reading[typeName] = make(chan struct{})
	return nil, nil
}

// leave lets those go on who wait for a schema.
func (s *schemas) leave(typeName string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.reading[typeName])
	delete(s.reading, typeName)
}

func (s *schemas) read(ctx context.Context, typeName string) (*awsschema.Type, error) {
	out, err := s.api.DescribeType(ctx, &cloudformation.DescribeTypeInput{Type: types.RegistryTypeResource, TypeName: &typeName})
	if _, unknown := errors.AsType[*types.TypeNotFoundException](err); unknown {
		return nil, status.Invalid("spec.typeName", "AWS has no resource type %s in this region: correct the name, or use a region in which AWS offers the type", typeName)
	}
	if err != nil {
		return nil, err
	}
	t, err := awsschema.Parse([]byte(aws.ToString(out.Schema)))
	if err != nil {
		return nil, status.Invalid("spec.typeName", "%v", err)
	}
	s.keep(t)
	return t, nil
}

// use returns a schema that is kept; nil where it is not. The caller holds the lock.
func (s *schemas) use(typeName string) *awsschema.Type {
	i := s.indexOf(typeName)
	if i < 0 {
		return nil
	}
	k := s.kept[i]
	k.unused.Reset(unusedFor)
	s.kept = slices.Insert(slices.Delete(s.kept, i, i+1), 0, k)
	return k.Type
}

func (s *schemas) indexOf(typeName string) int {
	return slices.IndexFunc(s.kept, func(k *keptSchema) bool { return k.Name == typeName })
}

func (s *schemas) keep(t *awsschema.Type) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(t.Name)
	s.kept = slices.Insert(s.kept, 0, &keptSchema{t, time.AfterFunc(unusedFor, func() { s.forget(t) })})
	if len(s.kept) > maxSchemas {
		s.drop(s.kept[maxSchemas].Name)
	}
}

// forget drops a schema that no object uses any more.
func (s *schemas) forget(t *awsschema.Type) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := s.indexOf(t.Name); i >= 0 && s.kept[i].Type == t {
		s.drop(t.Name)
	}
}

// drop takes a schema out, if it is kept. The caller holds the lock.
func (s *schemas) drop(typeName string) {
	if i := s.indexOf(typeName); i >= 0 {
		s.kept[i].unused.Stop()
		s.kept = slices.Delete(s.kept, i, i+1)
	}
}
