import { type Codes, type Kind, KINDS } from "./fixtures.ts";
import type { LoadResult } from "./load-client.ts";
import { cpuSecondsOf, machineCpuSeconds } from "./machine.ts";
import { type Bench, redeem, settle } from "./running.ts";
import { median } from "./statistics.ts";

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

/** A and B with the same number of clients and codes. */
export type Comparison = {
  readonly codes: number;
  readonly clients: number;
  readonly a: number;
  readonly aPostgresMicroseconds: number;
  readonly sides: Readonly<Record<Kind, Side>>;
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
  readonly a: number;
  readonly aPostgresMicroseconds: number;
  readonly plays: Readonly<Record<Kind, Play>>;
};

type Case = {
  readonly which: "hot" | "many";
  readonly count: number;
  readonly clients: number;
};

export async function compare(bench: Bench): Promise<Compared> {
  const { plan, fixtures, log } = bench;
  const cases = (["hot", "many"] as const).flatMap((which) =>
    plan.clients.map((clients): Case => ({
      which,
      count: fixtures.plain[which].codes.length,
      clients,
    })),
  );
  const rounds: Round[][] = cases.map(() => []);
  await settle(bench);
  for (let number = 1; number <= plan.rounds; number += 1) {
    for (const [index, each] of cases.entries()) {
      const round = await playRound(bench, each);
      rounds[index]?.push(round);
      const { a, plays } = round;
      const rates = KINDS.map(
        (kind) => `${kind} ${plays[kind].result.successesPerSecond.toFixed(0)}/s`,
      );
      log(
        `round ${number}: ${each.count} codes, ${each.clients} clients: A ${a.toFixed(0)}/s, ` +
          `B ${rates.join(", ")}`,
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
  const { postgres, plan, fixtures } = bench;
  const { seconds } = plan;
  const startA = postgres.cpuSeconds();
  const a = await bench.pgBench.measure({ clients, codes: count, seconds });
  await settle(bench);
  const aPostgresMicroseconds = (1e6 * (postgres.cpuSeconds() - startA)) / (a * seconds);
  return {
    a,
    aPostgresMicroseconds,
    plays: {
      plain: await play(bench, fixtures.plain[which], clients),
      ruled: await play(bench, fixtures.ruled[which], clients),
      ordered: await play(bench, fixtures.ordered[which], clients),
    },
  };
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

function summarise({ count, clients }: Case, rounds: readonly Round[]): Comparison {
  const medianOf = (read: (round: Round) => number): number => median(rounds.map(read));
  const sideOf = (kind: Kind): Side => ({
    perSecond: medianOf((round) => round.plays[kind].result.successesPerSecond),
    ratio: medianOf((round) => round.plays[kind].result.successesPerSecond / round.a),
    p50Ms: medianOf((round) => round.plays[kind].result.p50Ms),
    p99Ms: medianOf((round) => round.plays[kind].result.p99Ms),
    nodeMicroseconds: medianOf((round) => round.plays[kind].nodeMicroseconds),
    postgresMicroseconds: medianOf((round) => round.plays[kind].postgresMicroseconds),
  });
  return {
    codes: count,
    clients,
    a: medianOf(({ a }) => a),
    aPostgresMicroseconds: medianOf((round) => round.aPostgresMicroseconds),
    sides: { plain: sideOf("plain"), ruled: sideOf("ruled"), ordered: sideOf("ordered") },
  };
}
