import {
  collectDefaultMetrics,
  Counter,
  Gauge,
  Histogram,
  type Metric,
  Registry,
} from "prom-client";

/**
 * The metrics of a process. Requesting an existing metric returns it, so that parts of the process
 * can share it. Labels must have few values: a project or a code would create a time series for
 * each.
 */
export type Metrics = {
  readonly counter: <Label extends string>(options: MetricOptions<Label>) => Counter<Label>;
  readonly histogram: <Label extends string>(
    options: MetricOptions<Label> & { readonly buckets?: readonly number[] },
  ) => Histogram<Label>;
  /** Read when the metrics are fetched; the readers of one name are added up. */
  readonly gauge: (options: MetricOptions<never> & { readonly read: ReadFigure }) => void;
  /** The Prometheus text format. */
  readonly text: () => Promise<string>;
  readonly contentType: string;
};

type ReadFigure = () => number | Promise<number>;

export type MetricOptions<Label extends string> = {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly Label[];
};

/** From 5 ms to 10 s, the deadline of a request. */
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

const UNBOUNDED_LABEL = /project|tenant|code|voucher|customer|request|key_?id|token/i;

/** One registry per process. Tests leave out the metrics of Node itself. */
export function createMetrics(options: { readonly withProcess?: boolean } = {}): Metrics {
  const registry = new Registry();
  if (options.withProcess ?? true) collectDefaultMetrics({ register: registry });
  const readers = new Map<string, ReadFigure[]>();
  return {
    counter: (metric) =>
      existing(registry, metric, Counter) ?? new Counter(settings(registry, metric)),
    histogram: (metric) =>
      existing(registry, metric, Histogram) ??
      new Histogram({ ...settings(registry, metric), buckets: [...(metric.buckets ?? SECONDS)] }),
    gauge(metric) {
      const existingReaders = readers.get(metric.name);
      if (existingReaders !== undefined) {
        existingReaders.push(metric.read);
        return;
      }
      const all = [metric.read];
      readers.set(metric.name, all);
      const gauge: Gauge = new Gauge({
        ...settings(registry, metric),
        collect: async () => {
          const figures = await Promise.all(all.map(async (each) => each()));
          gauge.set(figures.reduce((sum, figure) => sum + figure, 0));
        },
      });
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}

function settings<Label extends string>(registry: Registry, metric: MetricOptions<Label>) {
  const { name, help, labels = [] } = metric;
  const unbounded = labels.find((label) => UNBOUNDED_LABEL.test(label));
  if (unbounded !== undefined) {
    throw new RangeError(
      `The metric ${name} must not have the label ${unbounded}: it has no bound`,
    );
  }
  return { name, help, labelNames: [...labels], registers: [registry] };
}

function existing<Kind extends Metric>(
  registry: Registry,
  { name }: { readonly name: string },
  kind: abstract new (...options: never[]) => Kind,
): Kind | undefined {
  const found: unknown = registry.getSingleMetric(name);
  if (found === undefined) return undefined;
  if (found instanceof kind) return found;
  throw new RangeError(`The metric ${name} exists and is of another kind`);
}
