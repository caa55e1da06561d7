import type { Bus, Installation, Setup } from "./installation.ts";

export type FaultContext = {
  /** Runs for as long as the plan says, instead of a short form. */
  readonly full: boolean;
  /** From 0 to 1, as `Math.random`; the seed of the run decides. */
  readonly random: () => number;
  /** Adds a line to what was measured. */
  readonly report: (line: string) => void;
};

type Planned = {
  /** As in the plan. */
  readonly id: string;
  readonly title: string;
  readonly criterion: string;
  /** The other ones run with FULL=1 only. */
  readonly inEveryRun: boolean;
};

/** Something fails under load, and the books are compared afterwards. */
export type Experiment = Planned & {
  readonly buses: readonly Bus[];
  /** A function prepares something first. */
  readonly setup?: Setup | (() => Setup);
  /** Throws when the criterion is not met. All invariants are checked after it. */
  readonly run: (installation: Installation, context: FaultContext) => Promise<void>;
};

/** Test files prove it in every run of CI. */
export type Proven = Planned & { readonly tests: readonly string[] };

export type Fault = Experiment | Proven;
