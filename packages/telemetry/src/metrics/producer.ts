import { type HrTime, ValueType } from '@opentelemetry/api';
import { hrTime } from '@opentelemetry/core';
import { emptyResource } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type MetricData,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics';
import type { MetricObjectWithValues, MetricValue, Registry } from 'prom-client';

type Metric = MetricObjectWithValues<MetricValue<string> & { readonly metricName?: string }>;
type Value = Metric['values'][number];
type Times = Pick<DataPoint<unknown>, 'startTime' | 'endTime'>;

const withoutBound = ({ le: _, ...labels }: Value['labels']) => labels as Record<string, string>;

/** The values of a histogram by its labels. Those of Prometheus count everything up to a bound, those of OTLP between two. */
const histograms = ({ name, values }: Metric, times: Times) => {
  const byLabels = new Map<string, Value[]>();
  for (const value of values) {
    const key = JSON.stringify(withoutBound(value.labels));
    byLabels.set(key, [...(byLabels.get(key) ?? []), value]);
  }
  return [...byLabels.values()].map((group) => {
    const sampleOf = (suffix: string): number =>
      group.find(({ metricName }) => metricName === `${name}_${suffix}`)?.value ?? 0;
    const buckets = group.filter(({ metricName }) => metricName === `${name}_bucket`);
    const counts = buckets.map(({ value }, at) => value - (buckets[at - 1]?.value ?? 0));
    const boundaries = buckets.map(({ labels }) => Number(labels.le)).filter(Number.isFinite);
    return {
      ...times,
      attributes: withoutBound(group[0]?.labels ?? {}),
      value: { buckets: { boundaries, counts }, sum: sampleOf('sum'), count: sampleOf('count') },
    };
  });
};

const metricData = (metric: Metric, times: Times): MetricData[] => {
  const { name, help: description, values } = metric;
  const common = {
    descriptor: { name, description, unit: '', valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  const dataPoints = () =>
    values.map(({ labels, value }) => ({ ...times, attributes: { ...labels }, value }));
  // prom-client's types say that the type is a number.
  switch (String(metric.type)) {
    case 'counter':
      return [
        {
          ...common,
          dataPointType: DataPointType.SUM,
          isMonotonic: true,
          dataPoints: dataPoints(),
        },
      ];
    case 'gauge':
      return [{ ...common, dataPointType: DataPointType.GAUGE, dataPoints: dataPoints() }];
    case 'histogram': {
      const points = histograms(metric, times);
      return [{ ...common, dataPointType: DataPointType.HISTOGRAM, dataPoints: points }];
    }
    default:
      return [];
  }
};

/** The metrics of a registry, under the names that Prometheus reads. */
export const producerOf = (registry: Registry): MetricProducer => {
  const startTime: HrTime = hrTime();
  return {
    async collect() {
      const times = { startTime, endTime: hrTime() };
      const metrics = (await registry.getMetricsAsJSON()) as Metric[];
      const scopeMetrics = [
        {
          scope: { name: 'tessera' },
          metrics: metrics
            .filter(({ values }) => values.length > 0)
            .flatMap((metric) => metricData(metric, times)),
        },
      ];
      return { resourceMetrics: { resource: emptyResource(), scopeMetrics }, errors: [] };
    },
  };
};
