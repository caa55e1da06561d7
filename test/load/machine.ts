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

/** The median time to flush a page to the disk of the data folder, as a commit does. */
export function measureFlushMs(folder: string, times: number): number {
  const file = path.join(folder, "flush-time");
  const descriptor = openSync(file, "w");
  const page = Buffer.alloc(PAGE_BYTES, 1);
  const durations = Array.from({ length: times }, (_, index) => {
    const start = performance.now();
    // The same few pages repeatedly, as in a recycled segment of the write-ahead log.
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

/** Processor time used during a period, as a share of one core. */
export async function measureCpuShare(used: () => number, seconds: number): Promise<number> {
  const before = used();
  const start = performance.now();
  await sleep(seconds * 1000);
  return (used() - before) / ((performance.now() - start) / 1000);
}

/** The processor time that a process has used, in seconds. */
export function cpuSecondsOf(pid: number): number {
  const [user, system] = readStat(pid).slice(UTIME, UTIME + 2);
  return (Number(user) + Number(system)) * TICK_S;
}

/** The same with all of its children, also those that have ended and were waited for. */
export function familyCpuSeconds(parent: number): number {
  const own = readStat(parent)
    .slice(UTIME, UTIME + 4)
    .map(Number);
  let ticks = own.reduce((sum, part) => sum + part, 0);
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const fields = readStat(Number(name));
      if (Number(fields[PARENT]) !== parent) continue;
      ticks += Number(fields[UTIME]) + Number(fields[UTIME + 1]);
    } catch {
      // It ended while the list was read.
    }
  }
  return ticks * TICK_S;
}

/** The processor time that all processes of the machine have used, in seconds. */
export function machineCpuSeconds(): number {
  const [, user, nice, system, , , irq, softirq] = readFileSync("/proc/stat", "utf8").split(
    /\s+/,
    8,
  );
  return [user, nice, system, irq, softirq].reduce((sum, ticks) => sum + Number(ticks), 0) * TICK_S;
}

/** Positions in /proc/<pid>/stat after the command. */
const PARENT = 1;
const UTIME = 11;

/** The fields of /proc/<pid>/stat after the command, which may hold spaces. */
function readStat(pid: number): string[] {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  return text.slice(text.lastIndexOf(")") + 2).split(" ");
}
