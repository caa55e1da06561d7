import type { Database } from "@scrip/postgres";

import type { Deps } from "../deps.ts";
import type { LocalDate } from "../domain/local-date.ts";

/** The midnight with which a date begins in a project. */
export type Night = {
  readonly projectId: string;
  readonly timeZone: string;
  readonly date: LocalDate;
  readonly at: number;
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
  /** Does the work of a night until it is done, or false once `isOver`. */
  readonly run: (deps: NightlyDeps, night: Night, isOver: () => boolean) => Promise<boolean>;
};
