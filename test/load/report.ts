import type { Comparison, Side } from "./compare.ts";
import type { Latencies, Measured } from "./measure.ts";
import type { Plan } from "./plan.ts";
import type { HotFunction } from "./profile.ts";
import { decisionSections } from "./report-decisions.ts";
import { type Kind, KINDS } from "./shop.ts";
import { atLeast, count, percent, table } from "./table.ts";

export type Report = {
  readonly measured: Measured;
  readonly hottest:
    | readonly { readonly title: string; readonly functions: readonly HotFunction[] }[]
    | null;
  readonly plan: Plan;
  /** Whether the figures are good enough to hold against the targets. */
  readonly judged: boolean;
  readonly machine: string;
  readonly date: string;
  readonly seconds: number;
};

const HOT_TARGET = 5;
const MANY_TARGET = 1;
const IDLE_TARGET = 0.02;
/** The number of clients at which the target for many codes counts. */
const TARGET_CLIENTS = 128;

export function formatReport(report: Report): string {
  return [
    head(report),
    comparisons(report),
    others(report),
    notes(report),
    decisionSections(report),
    ...(report.hottest ?? []).map(profile),
  ]
    .join("\n")
    .replaceAll(/\n{3,}/g, "\n\n");
}

const head = ({ measured, machine, date, seconds }: Report): string => `# Benchmark

Made by \`npm run bench\` on ${date} in ${seconds.toFixed(0)} s; run it again rather than edit this page.

- Machine: ${machine}, shared by Postgres, Scrip and the load client
- Flush time (8 KiB written and made durable, median): ${measured.flushMs.toFixed(2)} ms
- Postgres ${measured.durability.version}, \`fsync\` ${measured.durability.fsync}, \`synchronous_commit\` ${measured.durability.synchronousCommit}

## Redemptions

A: \`pgbench\`, one transaction per redemption (counter, redemption, outbox), prepared statements, on
the voucher service's own tables. B: redemption over HTTP, standalone, same Postgres server. In turns.
"Ruled" codes have two rules, one on the customer and one that counts the redemptions of each customer; their
requests name one of 1,000 customers, with what is known of him. "Ordered" ones read the order instead of the
customer; their requests carry an order as well, which is stored. The targets are those of the plain request; an
order is more than it asks for, so that one has none.
`;

const comparisons = ({ measured, judged }: Report): string =>
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
    measured.comparisons.flatMap((row) => KINDS.map((kind) => comparison(row, kind, judged))),
  );

function comparison(row: Comparison, kind: Kind, judged: boolean): string[] {
  const side = row.sides[kind];
  return [
    count(row.codes),
    count(row.clients),
    kind,
    count(row.a),
    count(side.perSecond),
    side.ratio.toFixed(2),
    judged && kind !== "ordered" ? targetOf(row, side) : "–",
    side.p50Ms.toFixed(1),
    side.p99Ms.toFixed(1),
    count(row.aPostgresMicroseconds),
    `${count(side.nodeMicroseconds)} + ${count(side.postgresMicroseconds)}`,
  ];
}

function targetOf({ codes, clients }: Comparison, { ratio }: Side): string {
  if (codes === 1) return atLeast(ratio, HOT_TARGET);
  return clients === TARGET_CLIENTS ? atLeast(ratio, MANY_TARGET) : "–";
}

const others = ({ measured, judged }: Report): string => {
  const { withOrder, atRate, memory, idleCpu } = measured;
  const idle = idleCpu.node + idleCpu.postgres;
  const verdict = idle < IDLE_TARGET ? "met" : "missed";
  return `
## The rest

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
        (judged ? ` (target < 2 %: ${verdict})` : ""),
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
CPU is what one redemption takes in microseconds: of Postgres for A, of Node and of Postgres for B,
with all that comes after it, such as its event. Other programs took ${measured.otherCores.toFixed(1)} cores meanwhile.

Figures are medians of ${plan.rounds} rounds of ${plan.seconds} s; B/A is the median of the rounds' ratios. The
fixed rate is ${plan.ratePerSecond} requests/s for ${plan.rateSeconds} s, counted from when a request was meant to leave, which a
timer keeps to about a millisecond. After all, ${count(measured.redemptions)} redemptions were acknowledged
and as many are in the database. Ratios compare; absolute figures hold for this machine only.
`;

const profile = ({ title, functions }: NonNullable<Report["hottest"]>[number]): string => `
## Where the time goes: ${title}

${table(
  ["self time", "function", "where"],
  functions.map(({ share, name, place }) => [percent(share), `\`${name}\``, place]),
)}`;
