import { projectTime } from "@scrip/clock";
import { startPeriodicJob } from "@scrip/rpc";
import { instantAt } from "@scrip/rules";

import { addDays, epochDayOf, localDateAt, type LocalDate } from "../domain/local-date.ts";
import { type DatedCalendar, listProjectsWithDuePoints } from "../store/due-points.ts";
import { listCalendars, type ProjectCalendar } from "../store/project-calendars.ts";
import { activatePendingPointsStep } from "./activate-pending-points.ts";
import { autoRedeemStep } from "./auto-redeem.ts";
import { changeTiersStep } from "./change-tiers.ts";
import { expirePointsStep } from "./expire-points.ts";
import type { NightlyDeps, NightlyStep } from "./nightly-step.ts";

/**
 * The steps of a night in their order (docs/loyalty.md#nightly-jobs): points that become active can keep a tier, rewards are
 * redeemed with points that would expire tonight, and points that expire tonight still count for a tier that ended
 * yesterday. Steps that move points follow them with tiers.
 */
const NIGHTLY_STEPS: readonly NightlyStep[] = [
  activatePendingPointsStep,
  autoRedeemStep,
  changeTiersStep,
  expirePointsStep,
];

export type DueNights = {
  readonly projectId: string;
  readonly timeZone: string;
  /** The project's current time. */
  readonly now: number;
};

/**
 * Runs the nights of a project that are due, in order: one night's steps, then those of the next night with work. Nights
 * without work cost nothing, so a year takes seconds. Returns false if `isOver` ended it before. Throws in the end if
 * cards failed in some step.
 */
export async function runDueNights(
  deps: NightlyDeps,
  { projectId, timeZone, now }: DueNights,
  isOver: () => boolean = () => false,
): Promise<boolean> {
  const today = localDateAt(timeZone, now);
  let after: LocalDate | null = null;
  let failed: Error | null = null;
  for (;;) {
    const date = await nextNight(deps, projectId, { after, until: today });
    if (date === null) break;
    const at = instantAt(timeZone, epochDayOf(date), 0);
    const time = date === today ? now : at;
    const night = { projectId, timeZone, date, at, today, time, expiredBefore: addDays(date, -1) };
    for (const step of NIGHTLY_STEPS) {
      const { finished, failure } = await step.run(deps, night, isOver);
      failed ??= failure;
      if (!finished) return false;
    }
    after = date;
  }
  if (failed !== null) throw failed;
  return true;
}

/** The first date that is due in any step. */
async function nextNight(
  { db }: NightlyDeps,
  projectId: string,
  range: { readonly after: LocalDate | null; readonly until: LocalDate },
): Promise<LocalDate | null> {
  const dates = await Promise.all(
    NIGHTLY_STEPS.map(({ nextDate }) => nextDate(db, projectId, range)),
  );
  return dates.filter((date) => date !== null).toSorted()[0] ?? null;
}

const EVERY_MS = 60_000;
/** Projects whose nights run concurrently, so that a long night does not delay all others. */
const LANES = 4;

/** Runs the nights of all projects within a minute of their midnight, until disposed. */
export const startNightlyJobs = (
  deps: NightlyDeps,
  onError: (error: Error) => void,
): AsyncDisposable =>
  startPeriodicJob({
    everyMs: EVERY_MS,
    onError,
    work: (signal) => runNightsOfProjects(deps, onError, () => signal.aborted),
  });

/** Adds the current date. Reports and omits calendars whose time zone this process does not know: a newer gateway may have accepted it. */
const datedCalendars = (
  calendars: readonly ProjectCalendar[],
  onError: (error: Error) => void,
): readonly DatedCalendar[] =>
  calendars.flatMap((calendar) => {
    try {
      return [{ ...calendar, today: localDateAt(calendar.timeZone, projectTime(calendar)) }];
    } catch (cause) {
      onError(new Error(`the time zone ${calendar.timeZone} is unknown`, { cause }));
      return [];
    }
  });

/** Runs the nights that are due. A project whose nights fail is reported, and tried again with the next run. */
export async function runNightsOfProjects(
  deps: NightlyDeps,
  onError: (error: Error) => void,
  isOver: () => boolean = () => false,
): Promise<void> {
  const calendars = datedCalendars(await listCalendars(deps.db), onError);
  const projects = (await listProjectsWithDuePoints(deps.db, calendars)).values();
  const lane = async () => {
    for (const { sandboxNow, ...project } of projects) {
      if (isOver()) return;
      try {
        await runDueNights(deps, { ...project, now: projectTime({ sandboxNow }) }, isOver);
      } catch (cause) {
        onError(new Error(`the nightly jobs of project ${project.projectId} failed`, { cause }));
      }
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}
