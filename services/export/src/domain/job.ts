/** Jobs of one queue of a project run one at a time, in the order in which they were started. */
export type QueueName = "bulk" | "exports";

export type JobStatus = "ENQUEUED" | "IN_PROGRESS" | "DONE" | "FAILED";

export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

export type JsonObject = { readonly [key: string]: JsonValue };

export type JobCounts = {
  /** Items that were handled successfully. */
  readonly processed: bigint;
  readonly failed: bigint;
  /** Null: not known yet. */
  readonly total: bigint | null;
};

/** Percent of the items that were handled; 100 only when the job is done. */
export function progressOf({
  status,
  processed,
  failed,
  total,
}: JobCounts & { readonly status: JobStatus }): number {
  if (status === "DONE") return 100;
  if (total === null || total <= 0n) return 0;
  return Math.min(99, Number(((processed + failed) * 100n) / total));
}

/** Claims of a job without a checkpoint, after which it fails. */
export const MAX_ATTEMPTS = 12;

/** Claims in which a job waits for a change of its project, about a minute; then it runs with the project as it is known. */
export const CHANGE_ATTEMPTS = 7;

const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 60_000;

/** Pause before the next attempt: doubles with each, up to a minute, so that twelve attempts take five minutes. */
export const retryPauseMs = (attempts: number): number =>
  Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempts - 1));
