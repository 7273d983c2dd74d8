// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/cloudformation"

	"github.com/nexus-operator/nexus-operator/internal/awsschema"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
)

// Objects of a type that are reconciled at the same time share the read of its schema.
func TestSchemas_AreReadOnceByAll(t *testing.T) {
	b := newBench(t, resourceOf(stream, eventsStream))
	b.Rig.AWS.Fault(emulator.Match{Op: "DescribeType"}, emulator.Delay(100*time.Millisecond))
	s := &schemas{api: cloudformation.NewFromConfig(b.Rig.Config)}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if got, err := s.of(t.Context(), stream); err != nil || got.Name != stream {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
	all.Wait()
	if n := b.Rig.AWS.Calls().Match("cloudformation", "DescribeType", "").Count(); n != 1 {
		t.Errorf("%d reads of the schema", n)
	}
}

// If a region lacks a type, the message names it with the remedy: AWS offers many types in some regions only.
func TestSchemas_AMissingTypeIsNamedWithTheRemedy(t *testing.T) {
	b := newBench(t, resourceOf(stream, eventsStream))
	s := &schemas{api: cloudformation.NewFromConfig(b.Rig.Config)}
	if _, err := s.of(t.Context(), "AWS::Kinesis::NoSuchType"); err == nil ||
		!strings.Contains(err.Error(), "AWS::Kinesis::NoSuchType in this region: correct the name, or use a region") {
		t.Errorf("%v", err)
	}
}

// One who waits for the read of another neither waits longer than its context nor fails with the other.
func TestSchemas_ReadersAreIndependent(t *testing.T) {
	b := newBench(t, resourceOf(stream, eventsStream))
	b.Rig.AWS.Fault(emulator.Match{Op: "DescribeType"}, emulator.Delay(300*time.Millisecond))
	s := &schemas{api: cloudformation.NewFromConfig(b.Rig.Config)}
	hasty, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			if _, err := s.of(hasty, stream); err == nil {
				t.Error("a reader waited longer than its context")
			}
		})
	}
	all.Go(func() {
		if _, err := s.of(t.Context(), stream); err != nil {
			t.Error(err)
		}
	})
	all.Wait()
}

// No schema is held in memory that no object uses, and none is read again that one uses.
func TestSchemas_AreKeptWhileTheyAreUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &schemas{}
		kept := func() int {
			s.mu.Lock()
			defer s.mu.Unlock()
			return len(s.kept)
		}
		has := func(name string) bool {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.indexOf(name) >= 0
		}
		s.keep(&awsschema.Type{Name: stream})
		s.keep(&awsschema.Type{Name: prefixList})
		for range 20 { // checks of one object
			time.Sleep(unusedFor / 4)
			if found, _ := s.join(stream); found == nil {
				t.Fatal("a schema that is used was forgotten")
			}
		}
		if n := kept(); n != 1 {
			t.Errorf("%d schemas are kept", n)
		}
		time.Sleep(unusedFor + time.Second)
		if n := kept(); n > 0 {
			t.Errorf("%d schemas are kept", n)
		}
		for i := range maxSchemas + 3 {
			s.keep(&awsschema.Type{Name: fmt.Sprint("AWS::Test::", i)})
		}
		if n := kept(); n != maxSchemas || has("AWS::Test::2") || !has("AWS::Test::3") {
			t.Errorf("%d schemas are kept", n)
		}
		time.Sleep(2 * unusedFor)
	})
}
