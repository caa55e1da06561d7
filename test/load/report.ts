import { COMPARED, type ComparedKind, type Comparison, scriptOf, type Side } from "./compare.ts";
import type { Form } from "./forms.ts";
import type { LoadResult } from "./load-client.ts";
import { AT_RATE, type Measured } from "./measure.ts";
import type { Plan } from "./plan.ts";
import type { Profile } from "./profile.ts";
import { decisionSections } from "./report-decisions.ts";
import { atLeast, atMost, count, percent, table } from "./table.ts";

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

/** Ratios, by number of codes and of clients. */
const TARGETS: Readonly<Record<string, Partial<Record<ComparedKind, number>>>> = {
  "1 32": { plain: 4 },
  "1 128": { shop: 5, plain: 9, ruled: 5 },
  "100000 128": { shop: 0.6, plain: 1.2, ruled: 0.7 },
};
const IDLE_TARGET = 0.02;
const IDLE_MIB_TARGET = 260;
/** Milliseconds of a request of a shop from one client. */
const ALONE_TARGETS = { redeem: 2, validate: 0.9 };
/** p99 of redemptions with rules, customer and order, in multiples of their p50. */
const TAIL_TARGET = 5;
const PROCESSES_TARGETS = { rate: 0.4, cpu: 2.2, p99: 3 };
const WORKERS_TARGET = 0.9;

export function formatReport(report: Report): string {
  return [
    head(report),
    comparisons(report),
    others(report),
    forms(report),
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
"Shop" is what a shop sends: one of 1,000 customers, an order of three products of the catalogue and an
\`Idempotency-Key\`, on codes with one rule; its A also inserts the order and the key. "Plain" has neither customer nor
order, which no shop sends. "Ruled" codes have two rules, one on the customer and one that counts the redemptions of each
customer; their requests name one of 1,000 customers and include the customer's data. "Ordered" codes have rules on
the order instead of the customer; their requests include an order as well, which is stored.
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
    measured.comparisons.flatMap((row) =>
      COMPARED.map((kind) => comparison(row, kind, hasTargets)),
    ),
  );

function comparison(row: Comparison, kind: ComparedKind, hasTargets: boolean): string[] {
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

function targetOf({ codes, clients }: Comparison, kind: ComparedKind, { ratio }: Side): string {
  const target = TARGETS[`${codes} ${clients}`]?.[kind];
  return target === undefined ? "–" : atLeast(ratio, target);
}

const others = ({ measured, plan, hasTargets }: Report): string => {
  const { alone, redeemAtRate, validateAtRate, atHalf, memory, idleCpu } = measured;
  const idle = idleCpu.node + idleCpu.postgres;
  const target = (text: string): string => (hasTargets ? text : "–");
  const ratio = ({ p99Ms, p50Ms }: LoadResult): string =>
    target(`p99/p50 ${(p99Ms / p50Ms).toFixed(1)} ${atMost(p99Ms / p50Ms, TAIL_TARGET)}`);
  const rate = `${count(plan.ratePerSecond)}/s`;
  return `
## Other measurements

${table(
  ["what", "measured", "target"],
  [
    ...(["redeem", "validate"] as const).map((action) => [
      `${action} from one client, shop`,
      latencies(alone[action]),
      target(`p50 ${atMost(alone[action].p50Ms, ALONE_TARGETS[action])}`),
    ]),
    ...AT_RATE.map((kind) => [
      `redeem at ${rate}, ${kind}`,
      latencies(redeemAtRate[kind]),
      kind === "ordered" ? ratio(redeemAtRate[kind]) : "–",
    ]),
    [`validate at ${rate}, shop`, latencies(validateAtRate), "–"],
    [
      `redeem at half of the maximum (${count(measured.orderedPerSecond / 2)}/s), ordered`,
      latencies(atHalf),
      ratio(atHalf),
    ],
    ["validations with an order", `${count(measured.validationsPerSecond)} per s`, "–"],
    [
      "memory (RSS) idle, after load",
      `${count(memory.idleMiB)} MiB, ${count(memory.loadedMiB)} MiB`,
      target(atMost(memory.idleMiB, IDLE_MIB_TARGET)),
    ],
    [
      "idle CPU, Node and Postgres",
      `${percent(idleCpu.node)} + ${percent(idleCpu.postgres)} of a core`,
      target(`< 2 %: ${idle < IDLE_TARGET ? "met" : "missed"}`),
    ],
    [
      "the load client's own cost",
      `${count(measured.clientCpuMicroseconds)} µs of CPU per request`,
      "–",
    ],
  ],
)}`;
};

const latencies = ({ p50Ms, p99Ms, maxMs }: LoadResult): string =>
  `p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms, max ${maxMs.toFixed(0)} ms`;

const notes = ({ plan, measured }: Report): string => `
CPU is the processor time per redemption in microseconds: of Postgres for A, of Node and of Postgres for B,
including deferred work such as its event. Other programs used ${measured.otherCores.toFixed(1)} cores during the run.

Figures are medians of ${plan.rounds} rounds of ${plan.seconds} s; B/A is the median of the rounds' ratios. The
fixed rate is ${plan.ratePerSecond} requests/s for ${plan.rateSeconds} s, counted from the time a request was due, which a
timer keeps to about a millisecond. After all runs, ${count(measured.redemptions)} redemptions were acknowledged
and as many are in the database. Compare ratios; absolute figures depend on the machine.
`;

const forms = ({ measured, plan, hasTargets }: Report): string => `
## Forms of installation

Redemptions of a shop, ${count(plan.formCodes)} codes, ${Math.max(...plan.clients)} clients, in alternating rounds on one server. Each form
has a database of its own. CPU includes Postgres. Latencies are those of ${count(plan.ratePerSecond)} redemptions/s.

${table(
  ["form", "per s", "ratio", "CPU", "ratio", "p50 ms", "p99 ms", "targets"],
  measured.forms.map((form) => [
    form.name,
    count(form.perSecond),
    form.rateRatio.toFixed(2),
    count(form.cpuMicroseconds),
    form.cpuRatio.toFixed(2),
    form.atRate.p50Ms.toFixed(1),
    form.atRate.p99Ms.toFixed(1),
    hasTargets ? targetsOf(form, measured.forms[0]) : "–",
  ]),
)}`;

function targetsOf(form: Form, first: Form | undefined): string {
  if (form.name === "two workers") return `rate ${atLeast(form.rateRatio, WORKERS_TARGET)}`;
  if (form.name !== "process per service" || first === undefined) return "–";
  return [
    `rate ${atLeast(form.rateRatio, PROCESSES_TARGETS.rate)}`,
    `CPU ${atMost(form.cpuRatio, PROCESSES_TARGETS.cpu)}`,
    `p99 ${atMost(form.atRate.p99Ms / first.atRate.p99Ms, PROCESSES_TARGETS.p99)}`,
  ].join("; ");
}

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
