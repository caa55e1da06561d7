import { mkdir, readdir, readFile } from "node:fs/promises";
import path from "node:path";

import { createFixtures } from "./fixtures.ts";
import { startLoadClient } from "./load.ts";
import type { BenchContext } from "./running.ts";
import { startStandalone } from "./standalone.ts";

export type HotFunction = { readonly share: number; readonly name: string; readonly place: string };

/** The part of the processor time that a package of the workspace or of npm spends, with all that it calls. */
export type Stage = { readonly share: number; readonly name: string };

export type Profile = {
  readonly title: string;
  readonly stages: readonly Stage[];
  readonly functions: readonly HotFunction[];
};

/** The fields of a .cpuprofile that are read here. */
type CpuProfile = {
  readonly nodes: readonly {
    readonly id: number;
    readonly children?: readonly number[];
    readonly callFrame: {
      readonly functionName: string;
      readonly url: string;
      readonly lineNumber: number;
    };
  }[];
  /** Of the first sample, in microseconds of the monotonic clock. */
  readonly startTime: number;
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
};

const SHOWN = 25;
const SHOWN_STAGES = 15;

const PROFILED = [
  { kind: "plain", which: "hot" },
  { kind: "plain", which: "many" },
  { kind: "shop", which: "hot" },
  { kind: "shop", which: "many" },
] as const;

/**
 * Takes CPU profiles of the standalone process under redemptions, on databases of their own. The start and the first
 * seconds of the load are left out: they load and compile modules.
 */
export async function profileRedemptions(context: BenchContext): Promise<readonly Profile[]> {
  const profiles: Profile[] = [];
  for (const each of PROFILED) profiles.push(await profileOne(context, each));
  return profiles;
}

async function profileOne(
  { plan, postgres, folder, log }: BenchContext,
  { kind, which }: (typeof PROFILED)[number],
): Promise<Profile> {
  const name = `${kind}_${which}`;
  const profiles = path.join(folder, `profile-${name}`);
  await mkdir(profiles);
  const databaseUrl = await postgres.create(`bench_profile_${name}`);
  log(`profiling redemptions (${kind}, ${which})`);
  let since = 0n;
  {
    await using standalone = await startStandalone({
      databaseUrl,
      dataDir: path.join(folder, `standalone-${name}`),
      nodeArgs: ["--cpu-prof", `--cpu-prof-dir=${profiles}`],
    });
    const fixtures = await createFixtures(standalone, databaseUrl, plan.codes);
    using client = startLoadClient();
    const redeem = (seconds: number) =>
      client.run(
        fixtures.load({
          action: "redemption",
          connections: Math.max(...plan.clients),
          ...fixtures[kind][which],
          seconds,
        }),
      );
    await redeem(plan.warmUpSeconds);
    since = process.hrtime.bigint() / 1_000n;
    await redeem(plan.seconds * 2);
  }
  const codes = which === "hot" ? "one hot code" : `${plan.codes} codes`;
  return { title: `${kind}, ${codes}`, ...(await readProfile(profiles, Number(since))) };
}

export async function readProfile(folder: string, since: number): Promise<Omit<Profile, "title">> {
  const files = (await readdir(folder)).filter((name) => name.endsWith(".cpuprofile"));
  const texts = await Promise.all(files.map((name) => readFile(path.join(folder, name), "utf8")));
  // Worker threads write profiles of their own; the main thread's is the largest.
  const text = texts.toSorted((a, b) => b.length - a.length)[0];
  if (text === undefined) throw new Error("the standalone process left no CPU profile");
  return summarise(JSON.parse(text) as CpuProfile, since);
}

function summarise(profile: CpuProfile, since: number): Omit<Profile, "title"> {
  const { nodes, samples, timeDeltas, startTime } = profile;
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const stages = stagesOf(profile);
  const functionTimes = new Map<string, number>();
  const stageTimes = new Map<string, number>();
  let total = 0;
  let at = startTime;
  for (const [index, id] of samples.entries()) {
    const time = timeDeltas[index] ?? 0;
    at += time;
    const frame = frames.get(id);
    if (at < since || frame === undefined || frame.functionName === "(idle)") continue;
    total += time;
    const key = `${frame.functionName || "(anonymous)"}\n${placeOf(frame.url, frame.lineNumber)}`;
    functionTimes.set(key, (functionTimes.get(key) ?? 0) + time);
    const stage = stages.get(id) ?? "";
    stageTimes.set(stage, (stageTimes.get(stage) ?? 0) + time);
  }
  return {
    stages: mostOf(stageTimes, SHOWN_STAGES).map(([name, time]) => ({ share: time / total, name })),
    functions: mostOf(functionTimes, SHOWN).map(([key, time]) => {
      const [name = "", place = ""] = key.split("\n");
      return { share: time / total, name, place };
    }),
  };
}

const mostOf = (times: ReadonlyMap<string, number>, shown: number): [string, number][] =>
  [...times].toSorted(([, a], [, b]) => b - a).slice(0, shown);

/** Of each node of the call tree: the innermost folder of a service, or else the package, of the frames down to it. */
function stagesOf({ nodes }: CpuProfile): ReadonlyMap<number, string> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const stages = new Map<number, string>();
  const visit = (id: number, outer: string): void => {
    const node = byId.get(id);
    if (node === undefined) return;
    const stage = stageOf(node.callFrame, outer);
    stages.set(id, stage);
    for (const child of node.children ?? []) visit(child, stage);
  };
  const [root] = nodes;
  if (root !== undefined) visit(root.id, "other");
  return stages;
}

function stageOf(
  { functionName, url, lineNumber }: CpuProfile["nodes"][number]["callFrame"],
  outer: string,
): string {
  if (functionName === "(garbage collector)") return "garbage collection";
  const place = placeOf(url, lineNumber);
  const own = /^(gateway|services\/(?!shared)\w+)\/src\/([\w-]+)/.exec(place);
  if (own !== null) return `${own[1]}/${own[2]}`;
  // A library works for the folder that calls it.
  if (outer !== "other") return outer;
  return /^(services\/shared\/\w+|@[\w-]+\/[\w-]+|[\w-]+)\//.exec(place)?.[1] ?? outer;
}

/** Relative to the workspace or the package, without folders of this machine. */
function placeOf(url: string, line: number): string {
  if (url === "") return "native";
  const inPackage = url.lastIndexOf("/node_modules/");
  const root = new URL("../../", import.meta.url).href;
  const place = inPackage === -1 ? url.replace(root, "") : url.slice(inPackage + 14);
  return `${place}:${line + 1}`;
}
