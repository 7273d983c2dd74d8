// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/nexus-operator/nexus-operator/internal/awsschema"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// maxSchemas limits the schemas that are kept for one identity.
const maxSchemas = 64

// schemas reads the schemas of types once and keeps those that were used last. It is safe for concurrent use.
type schemas struct {
	api *cloudformation.Client

	mu      sync.Mutex
	kept    []*awsschema.Type        // the one that was used last comes first
	reading map[string]chan struct{} // the types that are being read; closed once they were
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

// join returns a schema that is kept, or what is closed once another caller has read it. Without both, the caller reads it.
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
		return nil, status.Invalid("spec.typeName", "AWS has no resource type %s in this region", typeName)
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
	i := slices.IndexFunc(s.kept, func(t *awsschema.Type) bool { return t.Name == typeName })
	if i < 0 {
		return nil
	}
	t := s.kept[i]
	s.kept = slices.Insert(slices.Delete(s.kept, i, i+1), 0, t)
	return t
}

func (s *schemas) keep(t *awsschema.Type) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = slices.DeleteFunc(s.kept, func(other *awsschema.Type) bool { return other.Name == t.Name })
	s.kept = slices.Insert(s.kept, 0, t)
	s.kept = s.kept[:min(len(s.kept), maxSchemas)]
}
