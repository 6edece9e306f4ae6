package telemetry

import (
	"context"
	"time"

	dto "github.com/prometheus/client_model/go"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// measure sends the metrics at each interval until ctx ends.
func (t *Telemetry) measure(ctx context.Context) {
	for reconcile.Sleep(ctx, t.every) == nil {
		t.sendMetrics(ctx)
	}
}

// sendMetrics sends the metrics of now. What cannot be read is absent, as on /metrics.
func (t *Telemetry) sendMetrics(ctx context.Context) {
	t.mu.Lock()
	from := t.gather
	t.mu.Unlock()
	if t.metrics == nil || from == nil {
		return
	}
	families, _ := from.Gather() // what was gathered comes with the error of what was not
	if len(families) == 0 {
		return
	}
	t.metrics.post(ctx, &metricspb.MetricsData{ResourceMetrics: []*metricspb.ResourceMetrics{{
		Resource: t.resource,
		ScopeMetrics: []*metricspb.ScopeMetrics{{
			Scope: &commonpb.InstrumentationScope{Name: scope}, Metrics: metricsOf(families, time.Now()),
		}},
	}}})
}

// metricsOf are families of Prometheus under their own names, so that queries written for one find them in the other.
func metricsOf(families []*dto.MetricFamily, now time.Time) []*metricspb.Metric {
	out := make([]*metricspb.Metric, 0, len(families))
	at := uint64(now.UnixNano())
	for _, f := range families {
		m := &metricspb.Metric{Name: f.GetName(), Description: f.GetHelp()}
		switch f.GetType() {
		case dto.MetricType_COUNTER:
			m.Data = &metricspb.Metric_Sum{Sum: &metricspb.Sum{IsMonotonic: true, DataPoints: numbers(f, at),
				AggregationTemporality: metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE}}
		case dto.MetricType_HISTOGRAM:
			m.Data = &metricspb.Metric_Histogram{Histogram: &metricspb.Histogram{DataPoints: histograms(f, at),
				AggregationTemporality: metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE}}
		case dto.MetricType_GAUGE, dto.MetricType_UNTYPED:
			m.Data = &metricspb.Metric_Gauge{Gauge: &metricspb.Gauge{DataPoints: numbers(f, at)}}
		default:
			continue // we have no summaries, the Go runtime's are not gathered
		}
		out = append(out, m)
	}
	return out
}

func labels(m *dto.Metric) []*commonpb.KeyValue {
	out := make([]*commonpb.KeyValue, 0, len(m.GetLabel()))
	for _, l := range m.GetLabel() {
		out = append(out, textAttr(l.GetName(), l.GetValue()))
	}
	return out
}

func numbers(f *dto.MetricFamily, at uint64) []*metricspb.NumberDataPoint {
	out := make([]*metricspb.NumberDataPoint, 0, len(f.GetMetric()))
	for _, m := range f.GetMetric() {
		value := m.GetGauge().GetValue()
		switch {
		case m.GetCounter() != nil:
			value = m.GetCounter().GetValue()
		case m.GetUntyped() != nil:
			value = m.GetUntyped().GetValue()
		}
		out = append(out, &metricspb.NumberDataPoint{Attributes: labels(m), TimeUnixNano: at,
			Value: &metricspb.NumberDataPoint_AsDouble{AsDouble: value}})
	}
	return out
}

// histograms turns buckets that count all below them into such that count what lies within.
func histograms(f *dto.MetricFamily, at uint64) []*metricspb.HistogramDataPoint {
	out := make([]*metricspb.HistogramDataPoint, 0, len(f.GetMetric()))
	for _, m := range f.GetMetric() {
		h := m.GetHistogram()
		sum := h.GetSampleSum()
		p := &metricspb.HistogramDataPoint{Attributes: labels(m), TimeUnixNano: at, Count: h.GetSampleCount(), Sum: &sum}
		below := uint64(0)
		for _, b := range h.GetBucket() {
			if b.GetUpperBound() > 1e300 {
				continue // the one without an end has no bound here
			}
			p.ExplicitBounds = append(p.ExplicitBounds, b.GetUpperBound())
			p.BucketCounts = append(p.BucketCounts, b.GetCumulativeCount()-below)
			below = b.GetCumulativeCount()
		}
		p.BucketCounts = append(p.BucketCounts, h.GetSampleCount()-below)
		out = append(out, p)
	}
	return out
}
