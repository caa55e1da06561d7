import type { Codes, Kind } from "./fixtures.ts";
import type { LoadResult } from "./load-client.ts";
import { cpuSecondsOf, machineCpuSeconds } from "./machine.ts";
import type { Script } from "./pgbench.ts";
import { type Bench, redeem, settle } from "./running.ts";
import { median } from "./statistics.ts";

/** The kinds that are compared with plain SQL. */
export const COMPARED = ["shop", "plain", "ruled"] as const satisfies readonly Kind[];
export type ComparedKind = (typeof COMPARED)[number];

/** Redemptions over HTTP, of one kind. */
export type Side = {
  readonly perSecond: number;
  /** Relative to A: the median of the rounds' ratios. */
  readonly ratio: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Per redemption. */
  readonly nodeMicroseconds: number;
  readonly postgresMicroseconds: number;
};

/** The same work in plain SQL. */
export type SideA = { readonly perSecond: number; readonly postgresMicroseconds: number };

type PlainScript = Exclude<Script, "spend">;

/** A and B with the same number of clients and codes. */
export type Comparison = {
  readonly codes: number;
  readonly clients: number;
  readonly a: Readonly<Record<PlainScript, SideA>>;
  readonly sides: Readonly<Record<ComparedKind, Side>>;
};

export type Compared = {
  readonly comparisons: readonly Comparison[];
  /** Processor time of the load client, which shares the cores with the server. */
  readonly clientCpuMicroseconds: number;
  /** Cores that other programs used during the run; more than a few percent distorts the figures. */
  readonly otherCores: number;
};

type Play = {
  readonly result: LoadResult;
  readonly nodeMicroseconds: number;
  readonly postgresMicroseconds: number;
  readonly otherCores: number;
};

type Round = {
  readonly a: Readonly<Record<PlainScript, SideA>>;
  readonly plays: Readonly<Record<ComparedKind, Play>>;
};

type Case = {
  readonly which: "hot" | "many";
  readonly count: number;
  readonly clients: number;
};

export async function compare(bench: Bench): Promise<Compared> {
  const { plan, fixtures, log } = bench;
  const cases = [
    ...plan.clients.map((clients) => ({ which: "hot" as const, clients })),
    { which: "many" as const, clients: Math.max(...plan.clients) },
  ].map((each): Case => ({ ...each, count: fixtures.plain[each.which].codes.length }));
  const rounds: Round[][] = cases.map(() => []);
  await settle(bench);
  for (let number = 1; number <= plan.rounds; number += 1) {
    for (const [index, each] of cases.entries()) {
      const round = await playRound(bench, each);
      rounds[index]?.push(round);
      const { a, plays } = round;
      const rates = COMPARED.map(
        (kind) => `${kind} ${plays[kind].result.successesPerSecond.toFixed(0)}/s`,
      );
      log(
        `round ${number}: ${each.count} codes, ${each.clients} clients: ` +
          `A plain ${a.plain.perSecond.toFixed(0)}/s, shop ${a.shop.perSecond.toFixed(0)}/s, B ${rates.join(", ")}`,
      );
    }
  }
  const plays = rounds.flat().flatMap((round) => Object.values(round.plays));
  const sumOf = (read: (play: Play) => number): number =>
    plays.reduce((sum, one) => sum + read(one), 0);
  return {
    comparisons: cases.map((each, index) => summarise(each, rounds[index] ?? [])),
    clientCpuMicroseconds:
      (1e6 * sumOf(({ result }) => result.cpuSeconds)) /
      sumOf(({ result }) => result.statuses["200"] ?? 0),
    otherCores: median(plays.map(({ otherCores }) => otherCores)),
  };
}

/** Runs A, then B. Deferred work of either, such as delivering events, counts for its own figures. */
async function playRound(bench: Bench, { which, count, clients }: Case): Promise<Round> {
  const { fixtures } = bench;
  const a = {
    plain: await playA(bench, "plain", { clients, codes: count }),
    shop: await playA(bench, "shop", { clients, codes: count }),
  };
  return {
    a,
    plays: {
      shop: await play(bench, fixtures.shop[which], clients),
      plain: await play(bench, fixtures.plain[which], clients),
      ruled: await play(bench, fixtures.ruled[which], clients),
    },
  };
}

async function playA(
  bench: Bench,
  script: Script,
  load: { readonly clients: number; readonly codes: number },
): Promise<SideA> {
  const { postgres, plan, pgBench } = bench;
  // pgbench counts whole seconds.
  const seconds = Math.ceil(plan.seconds);
  const start = postgres.cpuSeconds();
  const perSecond = await pgBench.measure({ ...load, script, seconds });
  await settle(bench);
  const postgresMicroseconds = (1e6 * (postgres.cpuSeconds() - start)) / (perSecond * seconds);
  return { perSecond, postgresMicroseconds };
}

async function play(bench: Bench, codes: Codes, connections: number): Promise<Play> {
  const { postgres, standalone, plan } = bench;
  const start = { postgres: postgres.cpuSeconds(), node: cpuSecondsOf(standalone.pid) };
  const othersSince = startMachineUse(bench);
  const result = await redeem(bench, { ...codes, connections, seconds: plan.seconds });
  const otherCores = othersSince(result.cpuSeconds);
  await settle(bench);
  const redemptions = result.statuses["200"] ?? 0;
  return {
    result,
    otherCores,
    postgresMicroseconds: (1e6 * (postgres.cpuSeconds() - start.postgres)) / redemptions,
    nodeMicroseconds: (1e6 * (cpuSecondsOf(standalone.pid) - start.node)) / redemptions,
  };
}

/** Returns how many cores other programs used since, without what the load client used. */
function startMachineUse({ postgres, standalone }: Bench): (clientSeconds: number) => number {
  const own = (): number => postgres.cpuSeconds() + cpuSecondsOf(standalone.pid);
  const start = performance.now();
  const machine = machineCpuSeconds();
  const before = own();
  return (clientSeconds) =>
    (machineCpuSeconds() - machine - (own() - before) - clientSeconds) /
    ((performance.now() - start) / 1000);
}

/** What the requests of a kind are compared with: only those of a shop have a counterpart of their own. */
export const scriptOf = (kind: ComparedKind): PlainScript => (kind === "shop" ? "shop" : "plain");

function summarise({ count, clients }: Case, rounds: readonly Round[]): Comparison {
  const medianOf = (read: (round: Round) => number): number => median(rounds.map(read));
  const sideAOf = (script: PlainScript): SideA => ({
    perSecond: medianOf(({ a }) => a[script].perSecond),
    postgresMicroseconds: medianOf(({ a }) => a[script].postgresMicroseconds),
  });
  const sideOf = (kind: ComparedKind): Side => ({
    perSecond: medianOf(({ plays }) => plays[kind].result.successesPerSecond),
    ratio: medianOf(
      ({ a, plays }) => plays[kind].result.successesPerSecond / a[scriptOf(kind)].perSecond,
    ),
    p50Ms: medianOf(({ plays }) => plays[kind].result.p50Ms),
    p99Ms: medianOf(({ plays }) => plays[kind].result.p99Ms),
    nodeMicroseconds: medianOf(({ plays }) => plays[kind].nodeMicroseconds),
    postgresMicroseconds: medianOf(({ plays }) => plays[kind].postgresMicroseconds),
  });
  return {
    codes: count,
    clients,
    a: { plain: sideAOf("plain"), shop: sideAOf("shop") },
    sides: { shop: sideOf("shop"), plain: sideOf("plain"), ruled: sideOf("ruled") },
  };
}
