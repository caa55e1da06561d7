import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";

/** What a process measures of itself. Labels are few and bounded: never a project or a code. */
export type Metrics = {
  readonly counter: <Label extends string>(options: Options<Label>) => Counter<Label>;
  readonly histogram: <Label extends string>(
    options: Options<Label> & { readonly buckets?: readonly number[] },
  ) => Histogram<Label>;
  readonly gauge: (options: Options<never> & { readonly read: () => number }) => void;
  /** In the text format of Prometheus. */
  readonly text: () => Promise<string>;
  readonly contentType: string;
};

type Options<Label extends string> = {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly Label[];
};

/** 5 ms to 10 s. */
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const known = <Metric>(name: string): Metric | undefined =>
    registry.getSingleMetric(name) as Metric | undefined;
  return {
    counter: ({ name, help, labels = [] }) =>
      known(name) ?? new Counter({ name, help, labelNames: [...labels], registers: [registry] }),
    histogram: ({ name, help, labels = [], buckets = SECONDS }) =>
      known(name) ??
      new Histogram({
        name,
        help,
        labelNames: [...labels],
        buckets: [...buckets],
        registers: [registry],
      }),
    gauge({ name, help, read }) {
      if (known(name) !== undefined) return;
      const gauge: Gauge = new Gauge({
        name,
        help,
        registers: [registry],
        collect: () => gauge.set(read()),
      });
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}
