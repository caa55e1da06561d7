import {
  closeSync,
  fdatasyncSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeSync,
} from "node:fs";
import { cpus, totalmem } from "node:os";
import path from "node:path";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";

import { median } from "./statistics.ts";

/** The kernel counts processor time in ticks of this length on every Linux. */
const TICK_S = 0.01;
const PAGE_BYTES = 8_192;

/** The median time to make a page durable where the data folder is, as a commit does. */
export function measureFlushMs(folder: string, times: number): number {
  const file = path.join(folder, "flush-time");
  const descriptor = openSync(file, "w");
  const page = Buffer.alloc(PAGE_BYTES, 1);
  const durations = Array.from({ length: times }, (_, index) => {
    const start = performance.now();
    // The same few pages again and again, as in a recycled segment of the write-ahead log.
    writeSync(descriptor, page, 0, page.length, (index % 16) * PAGE_BYTES);
    fdatasyncSync(descriptor);
    return performance.now() - start;
  });
  closeSync(descriptor);
  rmSync(file);
  return median(durations);
}

export const describeMachine = (): string =>
  `${cpus().length} cores (${cpus()[0]?.model.trim() ?? "unknown"}), ` +
  `${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}`;

/** The resident memory of a process in MiB. */
export function residentMiB(pid: number): number {
  const kib = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kib) / 1024;
}

/** What a set of processes used over a while, as a share of one core. */
export async function measureCpuShare(
  pids: () => readonly number[],
  seconds: number,
): Promise<number> {
  const before = new Map(pids().map((pid) => [pid, cpuSeconds(pid)]));
  const start = performance.now();
  await sleep(seconds * 1000);
  let used = 0;
  // A process that came meanwhile counts whole; one that went was idle before it.
  for (const pid of pids()) used += Math.max(0, cpuSeconds(pid) - (before.get(pid) ?? 0));
  return used / ((performance.now() - start) / 1000);
}

function cpuSeconds(pid: number): number {
  try {
    const fields = readStat(pid);
    return (Number(fields[11]) + Number(fields[12])) * TICK_S;
  } catch {
    // Postgres's short-lived workers may end between being listed and being read.
    return 0;
  }
}

export function childrenOf(pid: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((child) => {
      try {
        return Number(readStat(child)[1]) === pid;
      } catch {
        // It ended while the list was read.
        return false;
      }
    });
}

/** The fields of /proc/<pid>/stat after the command, which may hold spaces. */
function readStat(pid: number): string[] {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  return text.slice(text.lastIndexOf(")") + 2).split(" ");
}
