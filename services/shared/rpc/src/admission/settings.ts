import { type Env, readEnv, variable } from "@scrip/config";

/** Bounds of the work in progress of a process (docs/rate-limits.md#concurrency). */
export type AdmissionSettings = {
  /** Light requests that run concurrently. */
  readonly requests: number;
  /** Light requests that wait. */
  readonly waitingRequests: number;
  /** Work of the heavy requests that run concurrently; a unit takes about a millisecond of processor time. */
  readonly work: number;
  /** Work of the heavy requests that wait. */
  readonly waitingWork: number;
  /** Bytes of large responses that callers have not received yet. */
  readonly unsentBytes: number;
};

const MAX = 1_000_000;
const MIB = 1024 * 1024;

const integer = (fallback: number) => variable.withDefault(variable.integer(1, MAX), fallback);

export function readAdmissionSettings(env: Env): AdmissionSettings {
  const { unsentMib, ...read } = readEnv(env, {
    requests: { name: "SCRIP_MAX_CONCURRENT_REQUESTS", reader: integer(256) },
    waitingRequests: { name: "SCRIP_MAX_WAITING_REQUESTS", reader: integer(4_000) },
    work: { name: "SCRIP_MAX_CONCURRENT_WORK", reader: integer(128) },
    waitingWork: { name: "SCRIP_MAX_WAITING_WORK", reader: integer(2_000) },
    unsentMib: { name: "SCRIP_MAX_UNSENT_MIB", reader: integer(64) },
  });
  return { ...read, unsentBytes: unsentMib * MIB };
}

export const DEFAULT_ADMISSION = readAdmissionSettings({});
