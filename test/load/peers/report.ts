import { median } from "../statistics.ts";
import { atLeast, count, table } from "../table.ts";
import { CODES, RACE_LIMIT } from "./cart.ts";
import type { Action, Race } from "./contender.ts";
import { versionOf } from "./install.ts";
import type { Measured, Plan, Series } from "./measured.ts";

/** How many times as many operations per second as Medusa, with this number of clients. */
const TARGETS: Readonly<Partial<Record<Action, number>>> = { validate: 50, redeem: 15 };
const TARGET_CLIENTS = 8;

export async function formatReport(of: {
  readonly measured: Measured;
  readonly plan: Plan;
  readonly machine: string;
  readonly date: string;
  readonly seconds: number;
}): Promise<string> {
  const { measured, plan, machine, date, seconds } = of;
  return `# Scrip beside other products

Written by \`node test/load/peers/run.ts\` on ${date} in ${seconds.toFixed(0)} s. Do not edit this page; run the comparison again.
What each system does for an operation, and what is unequal, is in [README.md](README.md).

- Machine: ${machine}, shared by Postgres, all systems and their clients
- Flush time (8 KiB written and flushed, median): ${measured.flushMs.toFixed(2)} ms
- Postgres ${measured.postgres}, \`fsync\` on, \`synchronous_commit\` on, a database for each system
- Peers: Medusa's promotion module ${await versionOf("@medusajs/promotion")}, Vendure ${await versionOf("@vendure/core")}

## Throughput and latency

A cart of three lines, a discount of 10 % with one rule; ${CODES} codes, or one. Medians of ${plan.rounds} rounds of ${plan.seconds} s, in which the
systems take turns; the ratio is the median of the rounds' ratios. CPU is the processor time for each operation: of the system's process (Medusa's
makes the calls, too) and of Postgres, including deferred work such as Scrip's events.

${table(
  [
    "operation",
    "clients",
    "system",
    "per s",
    "p50 ms",
    "p99 ms",
    "CPU ms",
    "Scrip / system",
    "target",
  ],
  measured.series.map((series) => figuresRow(series, measured.series)),
)}
## ${count(plan.attempts)} concurrent redemptions of a code that is limited to ${RACE_LIMIT}

${table(
  ["system", "let through", "stored", "rejected: limit", "failed", "repeated", "seconds"],
  measured.races.map(({ system, race }) => raceRow(system, race)),
)}
"Stored" are the redemptions in the system's own data afterwards; "repeated" are requests that were rejected because of overload, and sent
again after \`Retry-After\`.
${failures(measured)}`;
}

function figuresRow(series: Series, all: readonly Series[]): string[] {
  const { action, clients, system, rounds } = series;
  const of = (name: "perSecond" | "p50Ms" | "p99Ms"): number =>
    median(rounds.map((round) => round[name]));
  const cpu = (name: "node" | "postgres"): string =>
    figure(median(rounds.map(({ cpuMs }) => cpuMs[name])));
  const scrip = all.find(
    (other) => other.system === "Scrip" && other.action === action && other.clients === clients,
  );
  const ratio = median(
    rounds.map(
      ({ perSecond }, round) => (scrip?.rounds[round]?.perSecond ?? Number.NaN) / perSecond,
    ),
  );
  const target = system === "Medusa" && clients === TARGET_CLIENTS ? TARGETS[action] : undefined;
  return [
    action,
    String(clients),
    system,
    figure(of("perSecond")),
    figure(of("p50Ms")),
    figure(of("p99Ms")),
    `${cpu("node")} + ${cpu("postgres")}`,
    system === "Scrip" ? "–" : figure(ratio),
    target === undefined ? "–" : atLeast(ratio, target),
  ];
}

/** With three digits where there are fewer before the point. */
const figure = (value: number): string =>
  value < 100 ? value.toFixed(value < 10 ? 2 : 1) : count(value);

function raceRow(system: string, race: Race): string[] {
  const failed = Object.values(race.failed).reduce((sum, times) => sum + times, 0);
  return [
    system,
    count(race.accepted),
    count(race.stored),
    count(race.rejected),
    count(failed),
    count(race.repeated),
    race.seconds.toFixed(1),
  ];
}

/** The messages of failures, if there were any. */
function failures({ races }: Measured): string {
  const lines = races.flatMap(({ system, race }) =>
    Object.entries(race.failed).map(
      ([message, times]) => `- ${system}, ${times} times: ${message}`,
    ),
  );
  return lines.length === 0 ? "" : `\nFailures:\n\n${lines.join("\n")}\n`;
}
