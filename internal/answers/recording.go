// SPDX-License-Identifier: Apache-2.0

package answers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go/middleware"
)

// Recording holds the answers of AWS to the calls of clients, by their requests. It is safe for concurrent use.
type Recording struct {
	mu      sync.Mutex
	answers map[string]answer
}

// answer holds the output of a call, or its error.
type answer struct {
	operation string
	output    any
	err       error
}

// errNotRecorded is the answer to a request that was not made while recording.
var errNotRecorded = errors.New("AWS was not asked for this while its answers were recorded")

// mode selects how the clients handle the calls of a context.
type mode struct {
	recording *Recording
	// replays is true where the clients answer from the recording. Of the answer to the request of the key changed, change edits a
	// copy.
	replays bool
	changed string
	change  func(output reflect.Value)
	// rewrite edits the copy of each output.
	rewrite func(operation string, output any)
}

type modeKey struct{}

// Record returns a context for the clients of an instrumented configuration. In it they keep the answers of AWS in the recording.
func (r *Recording) Record(ctx context.Context) context.Context {
	return context.WithValue(ctx, modeKey{}, mode{recording: r})
}

// replay returns a context that makes the clients answer from the recording.
func (r *Recording) replay(ctx context.Context, changed string, change func(output reflect.Value)) context.Context {
	return context.WithValue(ctx, modeKey{}, mode{recording: r, replays: true, changed: changed, change: change})
}

// Replay returns a context that makes the clients answer from the recording. The function rewrite edits a copy of each output; nil edits
// none. A request that was not recorded fails, so that no read or write within the context reaches AWS.
func (r *Recording) Replay(ctx context.Context, rewrite func(operation string, output any)) context.Context {
	return context.WithValue(ctx, modeKey{}, mode{recording: r, replays: true, rewrite: rewrite})
}

// Instrument returns a configuration with clients that obey recordings. In other contexts they call AWS as before.
func Instrument(cfg aws.Config) aws.Config {
	cfg.APIOptions = append(slices.Clone(cfg.APIOptions), func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("NexusAnswers", handle), middleware.Before)
	})
	return cfg
}

func handle(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput,
	middleware.Metadata, error) {
	m, ok := ctx.Value(modeKey{}).(mode)
	if !ok {
		return next.HandleInitialize(ctx, in)
	}
	operation := operationOf(in)
	key, err := keyOf(operation, in)
	if err != nil {
		return middleware.InitializeOutput{}, middleware.Metadata{}, err
	}
	if m.replays {
		out, err := m.answer(key)
		return middleware.InitializeOutput{Result: out}, middleware.Metadata{}, err
	}
	out, metadata, err := next.HandleInitialize(ctx, in)
	m.recording.keep(key, answer{operation: operation, output: deepCopy(out.Result), err: err})
	return out, metadata, err
}

// keep adds an answer.
func (r *Recording) keep(key string, a answer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.answers == nil {
		r.answers = map[string]answer{}
	}
	r.answers[key] = a
}

// answer returns a copy of the recorded answer.
func (m mode) answer(key string) (any, error) {
	m.recording.mu.Lock()
	a, ok := m.recording.answers[key]
	m.recording.mu.Unlock()
	if !ok {
		return nil, errNotRecorded
	}
	out := deepCopy(a.output)
	if key == m.changed && m.change != nil {
		m.change(reflect.ValueOf(out))
	}
	if m.rewrite != nil && out != nil {
		m.rewrite(a.operation, out)
	}
	return out, a.err
}

// operationOf returns the operation with the package of its service, such as dynamodb.DescribeTable. It is the name of the request's
// type, because not every client puts the operation into the context before the first middleware.
func operationOf(in middleware.InitializeInput) string {
	name := strings.TrimPrefix(reflect.TypeOf(in.Parameters).String(), "*")
	return strings.TrimSuffix(name, "Input")
}

// keyOf names a request by its operation and parameters.
func keyOf(operation string, in middleware.InitializeInput) (string, error) {
	parameters, err := json.Marshal(in.Parameters)
	if err != nil {
		return "", fmt.Errorf("recording the answer of %s: %w", operation, err)
	}
	return operation + " " + string(parameters), nil
}
