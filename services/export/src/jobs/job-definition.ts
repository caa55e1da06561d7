import type { Call, ProjectState } from "@scrip/rpc";

import type { JobCounts, JsonObject, JsonValue } from "../domain/job.ts";

/**
 * How jobs of one type are carried out: slice by slice, each followed by a checkpoint. After a crash or an error, the
 * slice after the last checkpoint is repeated, so a slice must be repeatable: it calls the owner under `call(step)`,
 * whose idempotency key is that of the slice.
 */
export type JobDefinition<Input extends JsonValue = never, Position extends JsonValue = never> = {
  /** What `type` of the async action shows, such as `VOUCHERS.IMPORT`. */
  readonly type: string;
  /** Carries out the next slice, at best in less than a second. */
  readonly slice: (slice: Slice<Input, Position>) => Promise<SliceOutcome<Position> | SlicePause>;
  /** `result` of the async action when it is done. With `failed_count`, the API adds the failures as `failed`. */
  readonly result: (counts: JobCounts) => JsonObject;
  /** Called before the job ends as FAILED, and again if the process ends before it did. */
  readonly onFailed?: (slice: Slice<Input, Position>, reason: string) => Promise<void>;
};

/** Any definition; input and position are JSON in the table. */
export type AnyJobDefinition = JobDefinition;

export type Slice<Input, Position> = JobCounts & {
  readonly id: string;
  readonly project: ProjectState["project"];
  readonly input: Input;
  /** Where the previous slice ended; null: at the beginning. */
  readonly position: Position | null;
  /** Milliseconds since this slice paused for the first time; 0: it has not. */
  readonly pausedMs: number;
  /** The call of a step of this slice: the same idempotency key at each repetition. `step` names it in the slice. */
  readonly call: (step: string) => Call;
  /** Shows how many items the slice has handled so far; for slices that take longer than a second. */
  readonly progress: (handled: number) => Promise<void>;
  /** Aborted when the process stops: long slices may end early, with a checkpoint. */
  readonly signal: AbortSignal;
};

export type SliceOutcome<Position> = {
  /** Items that were handled successfully. Default: none. */
  readonly processed?: number;
  /**
   * The slice advanced an earlier job of the same campaign instead; its time does not count for this job. Default:
   * false.
   */
  readonly isWaiting?: boolean;
  /** Items that failed, each as the result shows it. */
  readonly failures?: readonly JsonObject[];
  /** CSV that the report of the job continues with. */
  readonly report?: string;
  /** Number of items of the job, when it is known by now. */
  readonly total?: number;
  /** Where the next slice starts; null: the job is done. */
  readonly next: Position | null;
};

/**
 * The slice did nothing and is to run again after this many milliseconds, in which other jobs may run. Does not count
 * as an attempt.
 */
export type SlicePause = { readonly pauseMs: number };

/** Erases the types of input and position, which the job worker only stores. */
export const defineJob = <Input extends JsonValue, Position extends JsonValue>(
  definition: JobDefinition<Input, Position>,
): AnyJobDefinition => definition as unknown as AnyJobDefinition;
