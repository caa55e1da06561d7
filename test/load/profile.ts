import { mkdir, readdir, readFile } from "node:fs/promises";
import path from "node:path";

import { createFixtures } from "./fixtures.ts";
import { startLoadClient } from "./load.ts";
import type { BenchContext } from "./running.ts";
import { startStandalone } from "./standalone.ts";

export type HotFunction = { readonly share: number; readonly name: string; readonly place: string };

/** The fields of a .cpuprofile that are read here. */
type CpuProfile = {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: {
      readonly functionName: string;
      readonly url: string;
      readonly lineNumber: number;
    };
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
};

const SHOWN = 25;

/** Takes a CPU profile of the standalone process under redemptions, on a database of its own. */
export async function profileRedemptions({ plan, postgres, folder, log }: BenchContext) {
  const hottest: { title: string; functions: HotFunction[] }[] = [];
  for (const kind of ["hot", "many"] as const) {
    const profiles = path.join(folder, `profile-${kind}`);
    await mkdir(profiles);
    const databaseUrl = await postgres.create(`bench_profile_${kind}`);
    log(`profiling redemptions (${kind})`);
    {
      await using standalone = await startStandalone({
        databaseUrl,
        dataDir: path.join(folder, `standalone-${kind}`),
        nodeArgs: ["--cpu-prof", `--cpu-prof-dir=${profiles}`],
      });
      const fixtures = await createFixtures(standalone, databaseUrl, plan.codes);
      using client = startLoadClient();
      await client.run(
        fixtures.load({
          action: "redemption",
          connections: Math.max(...plan.clients),
          ...fixtures.plain[kind],
          seconds: plan.seconds * 2,
        }),
      );
    }
    hottest.push({
      title: kind === "hot" ? "one hot code" : `${plan.codes} codes`,
      functions: await readHottest(profiles),
    });
  }
  return hottest;
}

async function readHottest(folder: string): Promise<HotFunction[]> {
  const files = (await readdir(folder)).filter((name) => name.endsWith(".cpuprofile"));
  const texts = await Promise.all(files.map((name) => readFile(path.join(folder, name), "utf8")));
  // Worker threads write profiles of their own; the main thread's is the largest.
  const text = texts.toSorted((a, b) => b.length - a.length)[0];
  if (text === undefined) throw new Error("the standalone process left no CPU profile");
  return hottestOf(JSON.parse(text) as CpuProfile);
}

function hottestOf({ nodes, samples, timeDeltas }: CpuProfile): HotFunction[] {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const times = new Map<string, number>();
  let total = 0;
  for (const [index, id] of samples.entries()) {
    const frame = frames.get(id);
    if (frame === undefined || frame.functionName === "(idle)") continue;
    const time = timeDeltas[index] ?? 0;
    total += time;
    const key = `${frame.functionName || "(anonymous)"}\n${placeOf(frame.url, frame.lineNumber)}`;
    times.set(key, (times.get(key) ?? 0) + time);
  }
  return [...times]
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, SHOWN)
    .map(([key, time]) => {
      const [name = "", place = ""] = key.split("\n");
      return { share: time / total, name, place };
    });
}

/** Relative to the workspace or the package, without folders of this machine. */
function placeOf(url: string, line: number): string {
  if (url === "") return "native";
  const inPackage = url.lastIndexOf("/node_modules/");
  const root = new URL("../../", import.meta.url).href;
  const place = inPackage === -1 ? url.replace(root, "") : url.slice(inPackage + 14);
  return `${place}:${line + 1}`;
}
