// SPDX-License-Identifier: Apache-2.0

package awsclient

import (
	"context"
	"strings"
	"time"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go/middleware"
	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel/attribute"

	"github.com/nexus-operator/nexus-operator/internal/tracing"
)

// calls holds the state that all AWS calls share: the rate limits, the clock, the counters, the log.
type calls struct {
	now     func() time.Time
	limiter *limiter
	meter   *meter
	writes  *ownWrites
}

// at instruments the clients of one home. The middleware sits right before the signature, so that
// waiting does not age it, and inside the SDK's own steps, so that getting credentials is not counted
// as part of the call that needed them.
// t may be nil.
func (c *calls) at(h home, t *throughput) func(*middleware.Stack) error {
	return func(stack *middleware.Stack) error {
		return stack.Finalize.Insert(&callMiddleware{calls: c, home: h, throughput: t}, "Signing", middleware.Before)
	}
}

type callMiddleware struct {
	*calls
	home       home
	throughput *throughput
}

// ID implements middleware.FinalizeMiddleware.
func (*callMiddleware) ID() string { return "NexusCall" }

// HandleFinalize implements middleware.FinalizeMiddleware.
func (m *callMiddleware) HandleFinalize(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (
	middleware.FinalizeOutput, middleware.Metadata, error,
) {
	service, operation := serviceName(awsmiddleware.GetServiceID(ctx)), awsmiddleware.GetOperationName(ctx)
	bucket := m.limiter.bucket(m.home, service, operation)
	m.throughput.apply(ctx, bucket)
	asked := m.now()
	err := m.limiter.wait(ctx, bucket)
	m.meter.waited(service, m.now().Sub(asked), err)
	if err != nil {
		return middleware.FinalizeOutput{}, middleware.Metadata{}, err
	}
	if err := checkFence(ctx, operation); err != nil {
		return middleware.FinalizeOutput{}, middleware.Metadata{}, err
	}
	trying, err := bucket.allow()
	if err != nil {
		return middleware.FinalizeOutput{}, middleware.Metadata{}, err
	}
	start := m.now()
	call, span := tracing.Client(ctx, service+"."+operation, attribute.String("rpc.system", "aws-api"),
		attribute.String("rpc.service", service),
		attribute.String("rpc.method", operation), attribute.String("cloud.region", m.home.region))
	out, metadata, err := next.HandleFinalize(call, in)
	took := m.now().Sub(start)
	bucket.done(trying, err, took)

	failure := classify(err, service, operation)
	failure.Service, failure.Operation = service, operation
	m.meter.count(failure, took)
	if failure.Class == Throttled {
		bucket.throttled(m.now())
	}
	if id, ok := awsmiddleware.GetRequestIDMetadata(metadata); ok {
		failure.RequestID = id
	}
	if !readOnly(operation) {
		m.writes.add(failure.RequestID)
	}
	span.SetAttributes(attribute.String("aws.request_id", failure.RequestID))
	tracing.End(span, string(failure.Class))
	logCall(ctx, failure, took)
	return out, metadata, err
}

// logCall logs a call and its outcome, a write at Info and a read at debug level. The class is empty for success. It logs names and never
// contents: no parameter, no header, no AWS text.
func logCall(ctx context.Context, f Failure, took time.Duration) {
	level := 0
	if readOnly(f.Operation) {
		level = 1
	}
	log := logr.FromContextOrDiscard(ctx).V(level)
	if !log.Enabled() {
		return
	}
	result := classOK
	if f.Class != "" {
		result = string(f.Class)
	}
	values := []any{"service", f.Service, "operation", f.Operation, "result", result, "took", took.String()}
	if o, ok := ctx.Value(objectKey{}).(object); ok {
		values = append(values, "object", o.kind+"/"+o.namespace+"/"+o.name)
	}
	if f.RequestID != "" {
		values = append(values, "requestID", f.RequestID)
	}
	if f.Class != "" {
		values = append(values, "code", f.Code, "status", f.Status)
	}
	log.Info("AWS call", values...)
}

// readOnly reports whether an operation changes nothing, by AWS's naming of operations. Getting
// credentials counts as reading, and so does taking a message from a queue of events.
func readOnly(operation string) bool {
	for _, prefix := range []string{"Get", "List", "Describe", "Head", "BatchGet", "Assume", "Simulate", "ReceiveMessage", "DeleteMessage"} {
		if strings.HasPrefix(operation, prefix) {
			return true
		}
	}
	return false
}

type objectKey struct{}

type object struct{ kind, namespace, name string }

// WithObject names the object that AWS is called for. The log lines of the calls (V(1) of the context's logger) show it, and its namespace
// decides the order of waiting calls. It is never sent.
func WithObject(ctx context.Context, kind, namespace, name string) context.Context {
	return context.WithValue(ctx, objectKey{}, object{kind: kind, namespace: namespace, name: name})
}
