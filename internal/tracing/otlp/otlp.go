// SPDX-License-Identifier: Apache-2.0

// Package otlp exports the spans of package tracing. Only the operator links it: the exporter brings gRPC and its messages.
package otlp

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// Settings configures the export.
type Settings struct {
	// Endpoint is the base URL of an OTLP receiver that accepts protobuf over HTTP, such as http://collector:4318; empty exports
	// nothing. OTEL_EXPORTER_OTLP_HEADERS and the other variables of the OpenTelemetry SDK apply.
	Endpoint string
	// SampleRatio is the share of reconciles that are traced, from 0 to 1.
	SampleRatio float64
	// Version is the operator's.
	Version string
}

// Start exports spans from now on. The returned function sends the remaining spans, and ends the export.
func Start(ctx context.Context, s Settings) (stop func(context.Context) error, err error) {
	if s.Endpoint == "" {
		return func(context.Context) error { return nil }, nil
	}
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(s.Endpoint+"/v1/traces"))
	if err != nil {
		return nil, fmt.Errorf("exporting traces to %s: %w", s.Endpoint, err)
	}
	about, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", "nexus-operator"), attribute.String("service.version", s.Version)),
		resource.WithFromEnv(), resource.WithTelemetrySDK())
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about),
		sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.TraceIDRatioBased(s.SampleRatio))))
	otel.SetTracerProvider(provider)
	return provider.Shutdown, nil
}
