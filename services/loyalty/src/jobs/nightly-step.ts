import type { Database } from "@scrip/postgres";

import type { Deps } from "../deps.ts";
import type { LocalDate } from "../domain/local-date.ts";

/** The midnight with which a date begins in a project. */
export type Night = {
  readonly projectId: string;
  readonly timeZone: string;
  readonly date: LocalDate;
  readonly at: number;
  /** The project's current date: the last night that is due. */
  readonly today: LocalDate;
  /** The time at which rewards are redeemed: the current one on the night's own day, else its midnight. */
  readonly time: number;
  /** Points that expired before this date cannot be spent: those that expire tonight still can. */
  readonly expiredBefore: LocalDate;
};

export type StepResult = {
  /** False if the step was stopped before. */
  readonly finished: boolean;
  /** Why cards were left out; null: none was. */
  readonly failure: Error | null;
};

export type NightlyDeps = Pick<Deps, "db" | "newId" | "onEvents" | "tiers">;

/** Work of a project that falls due with its days. Repeating a night does nothing again. */
export type NightlyStep = {
  /** The first date after `after` and until `until` that has work; null without any. */
  readonly nextDate: (
    db: Database,
    projectId: string,
    range: { readonly after: LocalDate | null; readonly until: LocalDate },
  ) => Promise<LocalDate | null>;
  /** Does the work of a night until it is done, or stops once `isOver`. */
  readonly run: (deps: NightlyDeps, night: Night, isOver: () => boolean) => Promise<StepResult>;
};
