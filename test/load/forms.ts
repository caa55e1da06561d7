import path from "node:path";

import { startComposition } from "../stack/compositions.ts";
import { createFixtures, type Fixtures } from "./fixtures.ts";
import type { LoadResult, LoadSpec } from "./load-client.ts";
import { type LoadClient, startLoadClient } from "./load.ts";
import { cpuSecondsOf, familyCpuSeconds } from "./machine.ts";
import type { Plan } from "./plan.ts";
import { becomeQuiet, run, type BenchContext } from "./running.ts";
import { startStandalone } from "./standalone.ts";
import { median } from "./statistics.ts";

export const FORMS = ["one process", "two workers", "process per service"] as const;
export type FormName = (typeof FORMS)[number];

/** A form of installation under the requests of a shop, compared with one process. */
export type Form = {
  readonly name: FormName;
  readonly perSecond: number;
  /** Median of the rounds' ratios. */
  readonly rateRatio: number;
  /** Processor time of all its processes and of Postgres per redemption. */
  readonly cpuMicroseconds: number;
  readonly cpuRatio: number;
  readonly atRate: LoadResult;
};

export type Forms = readonly Form[];

type Installation = {
  readonly name: FormName;
  readonly cpuSeconds: () => number;
  readonly fixtures: Fixtures;
};

type Round = { readonly perSecond: number; readonly cpuMicroseconds: number };

/** Each form has a database of its own on one server; they are measured in alternating rounds. */
export async function measureForms(context: BenchContext): Promise<Forms> {
  const { plan, log } = context;
  log("measuring redemptions by the form of the installation");
  await using parts = new AsyncDisposableStack();
  const installations = [
    await openStandalone(context, parts, { name: "one process", workers: 1 }),
    await openStandalone(context, parts, { name: "two workers", workers: 2 }),
    await openProcesses(context, parts),
  ];
  using client = startLoadClient();
  const rounds = installations.map((): Round[] => []);
  // The first round warms up and is not counted.
  for (let round = 0; round <= plan.rounds; round += 1) {
    for (const [index, installation] of installations.entries()) {
      const measured = await playRound(context, client, installation);
      if (round > 0) rounds[index]?.push(measured);
    }
  }
  const forms: Form[] = [];
  for (const [index, installation] of installations.entries()) {
    const medianOf = (read: (round: Round, first: Round) => number): number =>
      median((rounds[index] ?? []).map((each, at) => read(each, rounds[0]?.[at] ?? each)));
    forms.push({
      name: installation.name,
      perSecond: medianOf(({ perSecond }) => perSecond),
      rateRatio: medianOf((own, first) => own.perSecond / first.perSecond),
      cpuMicroseconds: medianOf(({ cpuMicroseconds }) => cpuMicroseconds),
      cpuRatio: medianOf((own, first) => own.cpuMicroseconds / first.cpuMicroseconds),
      atRate: await playAtRate(context, client, installation),
    });
  }
  return forms;
}

async function playRound(
  { plan, postgres, log }: BenchContext,
  client: LoadClient,
  { cpuSeconds, fixtures }: Installation,
): Promise<Round> {
  const used = (): number => cpuSeconds() + postgres.cpuSeconds();
  await becomeQuiet(used, log);
  const before = used();
  const result = await run({ client }, loadOf(plan, fixtures));
  await becomeQuiet(used, log);
  return {
    perSecond: result.successesPerSecond,
    cpuMicroseconds: (1e6 * (used() - before)) / (result.statuses["200"] ?? 0),
  };
}

async function playAtRate(
  { plan, postgres, log }: BenchContext,
  client: LoadClient,
  { cpuSeconds, fixtures }: Installation,
): Promise<LoadResult> {
  await becomeQuiet(() => cpuSeconds() + postgres.cpuSeconds(), log);
  const { ratePerSecond, rateSeconds: seconds } = plan;
  return await run({ client }, { ...loadOf(plan, fixtures), ratePerSecond, seconds });
}

const loadOf = (plan: Plan, fixtures: Fixtures): LoadSpec =>
  fixtures.load({
    ...fixtures.shop.many,
    action: "redemption",
    connections: Math.max(...plan.clients),
    seconds: plan.seconds,
  });

async function openStandalone(
  { plan, postgres, folder }: BenchContext,
  parts: AsyncDisposableStack,
  { name, workers }: { readonly name: FormName; readonly workers: number },
): Promise<Installation> {
  const databaseUrl = await postgres.create(`workers_${workers}`);
  const dataDir = path.join(folder, `workers-${workers}`);
  const standalone = parts.use(await startStandalone({ databaseUrl, dataDir, workers }));
  return {
    name,
    cpuSeconds: () => familyCpuSeconds(standalone.pid),
    fixtures: await createFixtures(standalone, databaseUrl, plan.formCodes),
  };
}

/** The gateway and each service as a process of its own, with the arguments of the image. */
async function openProcesses(
  { plan, postgres }: BenchContext,
  parts: AsyncDisposableStack,
): Promise<Installation> {
  const url = await postgres.create("processes");
  const stack = parts.use(
    await startComposition("distributed", {
      // Ends with the server.
      database: { url, [Symbol.asyncDispose]: async () => {} },
    }),
  );
  const server = {
    port: Number(new URL(stack.url).port),
    keys: { SCRIP_APP_ID: stack.keys.appId, SCRIP_APP_TOKEN: stack.keys.appToken },
  };
  return {
    name: "process per service",
    cpuSeconds: () => stack.pids().reduce((sum, pid) => sum + cpuSecondsOf(pid), 0),
    fixtures: await createFixtures(server, url, plan.formCodes),
  };
}
