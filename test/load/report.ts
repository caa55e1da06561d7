import { type Comparison, scriptOf, type Side } from "./compare.ts";
import { type Kind, KINDS } from "./fixtures.ts";
import type { Latencies, Measured } from "./measure.ts";
import type { Plan } from "./plan.ts";
import type { Profile } from "./profile.ts";
import { decisionSections } from "./report-decisions.ts";
import { atLeast, count, percent, table } from "./table.ts";

export type Report = {
  readonly measured: Measured;
  readonly profiles: readonly Profile[] | null;
  readonly plan: Plan;
  /** Whether the run is long enough to compare its figures with the targets. */
  readonly hasTargets: boolean;
  readonly machine: string;
  readonly date: string;
  readonly seconds: number;
};

/** Ratios of one code, and of many. */
const TARGETS: Readonly<Record<Kind, { readonly hot: number; readonly many: number } | null>> = {
  plain: { hot: 9, many: 1.2 },
  ruled: { hot: 5, many: 0.7 },
  ordered: null,
  shop: { hot: 5, many: 0.6 },
};
const IDLE_TARGET = 0.02;
/** The number of clients at which the targets count. */
const TARGET_CLIENTS = 128;

export function formatReport(report: Report): string {
  return [
    head(report),
    comparisons(report),
    others(report),
    notes(report),
    decisionSections(report),
    ...(report.profiles ?? []).map(profile),
  ]
    .join("\n")
    .replaceAll(/\n{3,}/g, "\n\n");
}

const head = ({ measured, machine, date, seconds }: Report): string => `# Benchmark

Written by \`npm run bench\` on ${date} in ${seconds.toFixed(0)} s. Do not edit this page; run the benchmark again.

- Machine: ${machine}, shared by Postgres, Scrip and the load client
- Flush time (8 KiB written and flushed, median): ${measured.flushMs.toFixed(2)} ms
- Postgres ${measured.durability.version}, \`fsync\` ${measured.durability.fsync}, \`synchronous_commit\` ${measured.durability.synchronousCommit}

## Redemptions

A: \`pgbench\`, one transaction per redemption (counter, redemption, outbox), prepared statements, on
the services' own tables. B: redemption over HTTP, standalone, same Postgres server. They run in alternating rounds.
"Ruled" codes have two rules, one on the customer and one that counts the redemptions of each customer; their
requests name one of 1,000 customers and include the customer's data. "Ordered" codes have rules on the order
instead of the customer; their requests include an order as well, which is stored. "Shop" is what a shop sends: one of 1,000 customers,
an order of three products of the catalogue and an \`Idempotency-Key\`, on codes with one rule; its A also inserts the order and the key.
`;

const comparisons = ({ measured, hasTargets }: Report): string =>
  table(
    [
      "codes",
      "clients",
      "B",
      "A per s",
      "B per s",
      "B/A",
      "target",
      "B p50 ms",
      "B p99 ms",
      "A CPU",
      "B CPU",
    ],
    measured.comparisons.flatMap((row) => KINDS.map((kind) => comparison(row, kind, hasTargets))),
  );

function comparison(row: Comparison, kind: Kind, hasTargets: boolean): string[] {
  const side = row.sides[kind];
  const a = row.a[scriptOf(kind)];
  return [
    count(row.codes),
    count(row.clients),
    kind,
    count(a.perSecond),
    count(side.perSecond),
    side.ratio.toFixed(2),
    hasTargets ? targetOf(row, kind, side) : "–",
    side.p50Ms.toFixed(1),
    side.p99Ms.toFixed(1),
    count(a.postgresMicroseconds),
    `${count(side.nodeMicroseconds)} + ${count(side.postgresMicroseconds)}`,
  ];
}

function targetOf({ codes, clients }: Comparison, kind: Kind, { ratio }: Side): string {
  const targets = TARGETS[kind];
  if (targets === null || clients !== TARGET_CLIENTS) return "–";
  return atLeast(ratio, codes === 1 ? targets.hot : targets.many);
}

const others = ({ measured, hasTargets }: Report): string => {
  const { withOrder, atRate, memory, idleCpu } = measured;
  const idle = idleCpu.node + idleCpu.postgres;
  const verdict = idle < IDLE_TARGET ? "met" : "missed";
  return `
## Other measurements

${table(
  ["what", "measured"],
  [
    ...withOrder.map(({ codes, perSecond }) => [
      `redemptions with an order, ${count(codes)} ${codes === 1 ? "code" : "codes"}`,
      `${count(perSecond)} per s`,
    ]),
    ["validations with an order", `${count(measured.validationsPerSecond)} per s`],
    ...(["plain", "ordered"] as const).flatMap((which) => [
      [`redeem at a fixed rate, ${which}`, latencies(atRate[which].redeem)],
      [`validate at a fixed rate, ${which}`, latencies(atRate[which].validate)],
    ]),
    [
      "memory (RSS) idle, after load",
      `${count(memory.idleMiB)} MiB, ${count(memory.loadedMiB)} MiB`,
    ],
    [
      "idle CPU, Node and Postgres",
      `${percent(idleCpu.node)} + ${percent(idleCpu.postgres)} of a core` +
        (hasTargets ? ` (target < 2 %: ${verdict})` : ""),
    ],
    [
      "the load client's own cost",
      `${count(measured.clientCpuMicroseconds)} µs of CPU per request`,
    ],
  ],
)}`;
};

const latencies = ({ p50Ms, p99Ms, maxMs }: Latencies["redeem"]): string =>
  `p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms, max ${maxMs.toFixed(0)} ms`;

const notes = ({ plan, measured }: Report): string => `
CPU is the processor time per redemption in microseconds: of Postgres for A, of Node and of Postgres for B,
including deferred work such as its event. Other programs used ${measured.otherCores.toFixed(1)} cores during the run.

Figures are medians of ${plan.rounds} rounds of ${plan.seconds} s; B/A is the median of the rounds' ratios. The
fixed rate is ${plan.ratePerSecond} requests/s for ${plan.rateSeconds} s, counted from the time a request was due, which a
timer keeps to about a millisecond. After all runs, ${count(measured.redemptions)} redemptions were acknowledged
and as many are in the database. Compare ratios; absolute figures depend on the machine.
`;

const profile = ({ title, stages, functions }: Profile): string => `
## Where the time goes: ${title}

${table(
  ["time", "stage, with the libraries that it calls"],
  stages.map(({ share, name }) => [percent(share), `\`${name}\``]),
)}
${table(
  ["self time", "function", "where"],
  functions.map(({ share, name, place }) => [percent(share), `\`${name}\``, place]),
)}`;
