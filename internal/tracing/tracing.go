// SPDX-License-Identifier: Apache-2.0

// Package tracing makes traces: a span for each reconcile, each decision, each step and each AWS call. Until package otlp exports them,
// spans cost nothing and go nowhere.
package tracing

import (
	"context"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// scope is the name of the operator's instrumentation.
const scope = "github.com/nexus-operator/nexus-operator"

// Span begins a span below the one in the context.
func Span(ctx context.Context, name string, attributes ...attribute.KeyValue) (context.Context, trace.Span) {
	return otel.Tracer(scope).Start(ctx, name, trace.WithAttributes(attributes...))
}

// Client begins a span of a call to another service.
func Client(ctx context.Context, name string, attributes ...attribute.KeyValue) (context.Context, trace.Span) {
	return otel.Tracer(scope).Start(ctx, name, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attributes...))
}

// End ends a span. Failure is a word for the failure, and empty for success. It holds no text of AWS or of a user.
func End(span trace.Span, failure string) {
	if failure != "" {
		span.SetStatus(codes.Error, failure)
		span.SetAttributes(attribute.String("error.type", failure))
	}
	span.End()
}

// IDOf returns the ID of the trace in the context, and whether it is exported.
func IDOf(ctx context.Context) (id string, sampled bool) {
	sc := trace.SpanContextFromContext(ctx)
	return sc.TraceID().String(), sc.IsSampled()
}
