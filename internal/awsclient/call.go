package awsclient

import (
	"context"
	"errors"
	"time"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go/middleware"
	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
)

// calls is what every AWS call passes through: its turn, the clock, the counters, the log.
type calls struct {
	now     func() time.Time
	limiter *limiter
	meter   *meter
}

// at instruments the clients of one home. The middleware sits right before the signature, so that
// waiting does not age it, and inside the SDK's own steps, so that getting credentials is not counted
// as part of the call that needed them.
func (c *calls) at(h home) func(*middleware.Stack) error {
	return func(stack *middleware.Stack) error {
		return stack.Finalize.Insert(&callMiddleware{calls: c, home: h}, "Signing", middleware.Before)
	}
}

type callMiddleware struct {
	*calls
	home home
}

// ID implements middleware.FinalizeMiddleware.
func (*callMiddleware) ID() string { return "NexusCall" }

// HandleFinalize implements middleware.FinalizeMiddleware.
func (m *callMiddleware) HandleFinalize(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (
	middleware.FinalizeOutput, middleware.Metadata, error,
) {
	service, operation := serviceName(awsmiddleware.GetServiceID(ctx)), awsmiddleware.GetOperationName(ctx)
	bucket := m.limiter.bucket(m.home, service, operation)
	if err := m.limiter.wait(ctx, bucket); err != nil {
		return middleware.FinalizeOutput{}, middleware.Metadata{}, err
	}
	trying, err := bucket.enter()
	if err != nil {
		return middleware.FinalizeOutput{}, middleware.Metadata{}, err
	}
	start := m.now()
	out, metadata, err := next.HandleFinalize(ctx, in)
	took := m.now().Sub(start)
	bucket.leave(trying, err, took)

	failure := classify(err, service, operation)
	m.meter.count(service, operation, failure.Class, took)
	if failure.Class == Throttled {
		bucket.throttled(m.now())
	}
	logCall(ctx, service, operation, failure, took)
	return out, metadata, err
}

// logCall writes names, never contents: no parameter, no header, no AWS text.
func logCall(ctx context.Context, service, operation string, f Failure, took time.Duration) {
	log := logr.FromContextOrDiscard(ctx).V(1)
	if !log.Enabled() {
		return
	}
	values := []any{"service", service, "operation", operation, "took", took.String()}
	if o, ok := ctx.Value(objectKey{}).(object); ok {
		values = append(values, "object", o.kind+"/"+o.namespace+"/"+o.name)
	}
	if f.Class != "" {
		values = append(values, "class", string(f.Class), "code", f.Code, "status", f.Status, "requestID", f.RequestID)
	}
	log.Info("AWS call", values...)
}

type objectKey struct{}

type object struct{ kind, namespace, name string }

// WithObject names the object that AWS is called for. It shows in the log lines of the calls (V(1) of
// the context's logger) and nowhere else: it is never sent.
func WithObject(ctx context.Context, kind, namespace, name string) context.Context {
	return context.WithValue(ctx, objectKey{}, object{kind: kind, namespace: namespace, name: name})
}

// classOK is the class label of calls that succeeded.
const classOK = "OK"

// meter counts calls.
type meter struct {
	requests  *prometheus.CounterVec
	seconds   *prometheus.HistogramVec
	throttled *prometheus.CounterVec
}

// newMeter registers the metrics, or finds those another Sessions registered before. A nil registerer
// counts for nobody.
func newMeter(to prometheus.Registerer) (*meter, error) {
	m := &meter{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "nexus_aws_requests_total",
			Help: "AWS calls by service, operation and class of the answer (OK, or the class of failure).",
		}, []string{"service", "operation", "class"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "nexus_aws_request_duration_seconds",
			Help:    "Duration of AWS calls, without the wait for their turn.",
			Buckets: []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
		}, []string{"service", "operation"}),
		throttled: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "nexus_aws_throttled_total",
			Help: "AWS calls that AWS throttled, by service.",
		}, []string{"service"}),
	}
	if to == nil {
		return m, nil
	}
	return m, errors.Join(register(to, &m.requests), register(to, &m.seconds), register(to, &m.throttled))
}

func register[C prometheus.Collector](to prometheus.Registerer, c *C) error {
	err := to.Register(*c)
	if already, ok := errors.AsType[prometheus.AlreadyRegisteredError](err); ok {
		if same, ok := already.ExistingCollector.(C); ok {
			*c = same
			return nil
		}
	}
	return err
}

func (m *meter) count(service, operation string, class Class, took time.Duration) {
	label := string(class)
	if label == "" {
		label = classOK
	}
	m.requests.WithLabelValues(service, operation, label).Inc()
	m.seconds.WithLabelValues(service, operation).Observe(took.Seconds())
	if class == Throttled {
		m.throttled.WithLabelValues(service).Inc()
	}
}
