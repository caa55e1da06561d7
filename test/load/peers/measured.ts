import type { Action, Race } from "./contender.ts";
import type { Figures } from "./drive.ts";

export type Plan = {
  /** Rounds in which the systems take turns; medians are reported. */
  readonly rounds: number;
  readonly seconds: number;
  readonly clients: readonly number[];
  /** Concurrent redemptions of the limited code. */
  readonly attempts: number;
  readonly flushes: number;
};

/** The figures of one system for one action and number of clients, one per round. */
export type Series = {
  readonly action: Action;
  readonly clients: number;
  readonly system: string;
  readonly rounds: RoundFigures[];
};

export type RoundFigures = Figures & {
  /** Processor time for each operation, in milliseconds: of the process of the system, and of Postgres. */
  readonly cpuMs: { readonly node: number; readonly postgres: number };
};

export type Measured = {
  readonly flushMs: number;
  readonly postgres: string;
  readonly series: readonly Series[];
  readonly races: readonly { readonly system: string; readonly race: Race }[];
};
