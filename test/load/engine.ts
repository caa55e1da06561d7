import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";

import type { BenchContext } from "./running.ts";

/** Decisions of the pure engine, per second of one core. */
export type EngineRate = { readonly request: string; readonly perSecond: number };

const BENCH = path.join(import.meta.dirname, "../../services/validation/bench/decide.ts");

/** Runs in a process of its own, which measures nothing else. */
export async function measureEngine({ plan, log }: BenchContext): Promise<readonly EngineRate[]> {
  log("measuring the engine alone");
  const { stdout } = await promisify(execFile)(process.execPath, [BENCH], {
    env: { ...process.env, SECONDS: String(plan.engineSeconds) },
  });
  const rates = stdout.split("\n").flatMap((line) => {
    const [, request, perSecond] = /^ *(\S.*\S) +(\d+)\/s$/.exec(line) ?? [];
    return request === undefined ? [] : { request, perSecond: Number(perSecond) };
  });
  if (rates.length === 0)
    throw new Error(`no rates in what the engine's benchmark wrote:\n${stdout}`);
  return rates;
}
