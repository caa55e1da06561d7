import {
  AggregatorRegistry,
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
  readonly gauge: (options: MetricOptions<never> & GaugeOptions) => void;
  /** The same with a figure for each value of a label; those that are not read any more are left out. */
  readonly gauges: (options: GaugesOptions) => void;
} & MetricsText;

export type MetricsText = {
  /** The Prometheus text format. */
  readonly text: () => Promise<string>;
  readonly contentType: string;
};

type GaugeOptions = {
  readonly read: ReadFigure;
  /** How the figures of several workers are merged: `max` if each reads the same one. Default: `sum`. */
  readonly merged?: "sum" | "max";
};

type GaugesOptions = Omit<MetricOptions<never>, "labels"> &
  Pick<GaugeOptions, "merged"> & {
    readonly label: string;
    readonly read: () => Promise<ReadonlyMap<string, number>>;
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

export type MetricsOptions = {
  /** Whether the metrics of Node itself are included. Default: true. */
  readonly withProcess?: boolean;
  /** Whether the primary process of this worker merges them (`mergeMetrics`). Default: false. */
  readonly ofWorker?: boolean;
};

/** One registry per process. */
export function createMetrics(options: MetricsOptions = {}): Metrics {
  const registry = new Registry();
  if (options.ofWorker === true) {
    AggregatorRegistry.setRegistries([registry]);
    listenForMerging();
  }
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
        aggregator: metric.merged ?? "sum",
        collect: async () => {
          const figures = await Promise.all(all.map(async (each) => each()));
          gauge.set(figures.reduce((sum, figure) => sum + figure, 0));
        },
      });
    },
    gauges({ label, read, merged, ...metric }) {
      const gauge: Gauge = new Gauge({
        ...settings(registry, { ...metric, labels: [label] }),
        aggregator: merged ?? "sum",
        collect: async () => {
          const figures = await read();
          gauge.reset();
          for (const [value, figure] of figures) gauge.set({ [label]: value }, figure);
        },
      });
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}

/** The metrics of all workers of this process, as of one process. */
export function mergeMetrics(): MetricsText {
  const registry = listenForMerging();
  return { text: () => registry.clusterMetrics(), contentType: registry.contentType };
}

/** The library exchanges metrics between processes that have such a registry. */
const listenForMerging = () => new AggregatorRegistry();

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
