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

	mu   sync.Mutex
	kept []*awsschema.Type // the one that was used last comes first
}

// of returns the schema of a type.
func (s *schemas) of(ctx context.Context, typeName string) (*awsschema.Type, error) {
	if t := s.use(typeName); t != nil {
		return t, nil
	}
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

// use returns a schema that is kept; nil where it is not.
func (s *schemas) use(typeName string) *awsschema.Type {
	s.mu.Lock()
	defer s.mu.Unlock()
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
