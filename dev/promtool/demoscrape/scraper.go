// SPDX-License-Identifier: Apache-2.0

// Package demoscrape runs the demo, scrapes its operator with Prometheus' own code, and evaluates queries over the result.
package demoscrape

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/model"
	"github.com/prometheus/common/promslog"
	"github.com/prometheus/prometheus/config"
	"github.com/prometheus/prometheus/discovery/targetgroup"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/scrape"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb"
)

// job and instance are the labels that the scraper adds to every series.
const (
	job      = "nexus-operator"
	instance = "nexus-operator-0"
)

// Scraper consists of the scrape manager, the storage and the query engine of Prometheus.
type Scraper struct {
	db      *tsdb.DB
	manager *scrape.Manager
	engine  *promql.Engine
}

// NewScraper scrapes an address at an interval until Close, and stores the samples in an empty folder. The address does not
// have to answer from the beginning.
func NewScraper(folder, address string, interval time.Duration) (*Scraper, error) {
	conf, err := config.Load(fmt.Sprintf("global: {scrape_interval: %[1]s, scrape_timeout: %[1]s}\nscrape_configs: [{job_name: %[2]s}]\n",
		interval, job), promslog.NewNopLogger())
	if err != nil {
		return nil, err
	}
	db, err := tsdb.Open(folder, promslog.NewNopLogger(), nil, tsdb.DefaultOptions(), nil)
	if err != nil {
		return nil, err
	}
	options := &scrape.Options{DiscoveryReloadOnStartup: true}
	manager, err := scrape.NewManager(options, promslog.NewNopLogger(), nil, db, nil, prometheus.NewRegistry())
	if err == nil {
		err = manager.ApplyConfig(conf)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	targets := make(chan map[string][]*targetgroup.Group, 1)
	targets <- map[string][]*targetgroup.Group{job: {{
		Source:  job,
		Targets: []model.LabelSet{{model.AddressLabel: model.LabelValue(address)}},
		Labels:  model.LabelSet{model.InstanceLabel: instance},
	}}}
	go func() { _ = manager.Run(targets) }() // ends with Stop, and has no other error
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 50_000_000, Timeout: time.Minute, Parser: parser.NewParser(parser.Options{})})
	return &Scraper{db: db, manager: manager, engine: engine}, nil
}

// Close stops scraping and closes the storage.
func (s *Scraper) Close() error {
	s.manager.Stop()
	return errors.Join(s.engine.Close(), s.db.Close())
}

// Instant returns the result of a query at one time.
func (s *Scraper) Instant(ctx context.Context, query string, at time.Time) (promql.Vector, error) {
	q, err := s.engine.NewInstantQuery(ctx, s.db, nil, query, at)
	if err != nil {
		return nil, err
	}
	defer q.Close()
	vector, err := q.Exec(ctx).Vector()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", query, err)
	}
	return slices.Clone(vector), nil // Close takes the result back
}

// Range returns the result of a query over a time.
func (s *Scraper) Range(ctx context.Context, query string, from, to time.Time, step time.Duration) (promql.Matrix, error) {
	q, err := s.engine.NewRangeQuery(ctx, s.db, nil, query, from, to, step)
	if err != nil {
		return nil, err
	}
	defer q.Close()
	matrix, err := q.Exec(ctx).Matrix()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", query, err)
	}
	for i := range matrix { // Close takes the result back
		matrix[i].Floats = slices.Clone(matrix[i].Floats)
	}
	return slices.Clone(matrix), nil
}

// LabelValues returns the values that a label of a metric had at any time.
func (s *Scraper) LabelValues(ctx context.Context, metric, label string) ([]string, error) {
	querier, err := s.db.Querier(0, time.Now().UnixMilli())
	if err != nil {
		return nil, err
	}
	defer querier.Close()
	values, _, err := querier.LabelValues(ctx, label, &storage.LabelHints{},
		labels.MustNewMatcher(labels.MatchEqual, labels.MetricName, metric))
	return slices.Clone(values), err
}
