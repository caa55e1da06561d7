import { type Queryable, textArray } from "@scrip/postgres";

import { keyOf } from "../domain/key.ts";
import { addDays, localDateAt, type LocalDate } from "../domain/local-date.ts";
import type { CardKey } from "./loyalty-members.ts";
import { DEFAULT_CALENDAR } from "./project-calendars.ts";
import type { AssignmentRow } from "./reward-assignments.ts";

type ProgramKey = { readonly projectId: string; readonly campaignId: string };

/** The assignments that are redeemed automatically, by `keyOf` of project and program: at most one of a program. */
export async function findAutoRedeemed(
  db: Queryable,
  programs: readonly ProgramKey[],
): Promise<ReadonlyMap<string, AssignmentRow>> {
  if (programs.length === 0) return new Map();
  const { rows } = await db.query<AssignmentRow & { project_id: string }>(
    `select * from reward_assignment
      where auto_redeem and (project_id, campaign_id) in (select * from unnest($1::text[], $2::text[]))`,
    [
      textArray(programs.map(({ projectId }) => projectId)),
      textArray(programs.map(({ campaignId }) => campaignId)),
    ],
  );
  return new Map(
    rows.map(({ project_id: projectId, ...row }) => [keyOf(projectId, row.campaign_id), row]),
  );
}

/** Counts one automatic redemption of a customer; false when the day has enough. */
export async function countAutoRedemption(
  tx: Queryable,
  {
    projectId,
    customerId,
    date,
    limit,
  }: {
    readonly projectId: string;
    readonly customerId: string;
    readonly date: LocalDate;
    readonly limit: number;
  },
): Promise<boolean> {
  const { rows } = await tx.query(
    `insert into auto_redemption as a (project_id, customer_id, date, count)
     values ($1, $2, $3, 1)
         on conflict (project_id, customer_id, date) do update set count = a.count + 1 where a.count < $4
     returning 1 as counted`,
    [projectId, customerId, date, limit],
  );
  return rows.length > 0;
}

/** Programs of a project with a reward that is redeemed automatically, by an assignment that was not changed after a time. */
export async function listAutoRedeemingPrograms(
  db: Queryable,
  projectId: string,
  until: number,
): Promise<readonly string[]> {
  const { rows } = await db.query<{ campaign_id: string }>(
    `select campaign_id from reward_assignment
      where project_id = $1 and auto_redeem and coalesce(updated_at, created_at) <= $2
      order by campaign_id`,
    [projectId, new Date(until)],
  );
  return rows.map(({ campaign_id: campaignId }) => campaignId);
}

/** Those of these cards that have points that can be spent, in the order of their ids. */
export async function keepCardsWithPoints(
  db: Queryable,
  projectId: string,
  cardIds: readonly string[],
): Promise<readonly CardKey[]> {
  const { rows } = await db.query<{ card_id: string }>(
    `select m.card_id
       from loyalty_member m
       left join loyalty_card c on c.project_id = m.project_id and c.id = m.card_id
      where m.project_id = $1 and m.card_id = any($2::text[])
        and coalesce(c.balance - c.held_points, m.initial_points) > 0
      order by m.card_id`,
    [projectId, textArray(cardIds)],
  );
  return rows.map(({ card_id: cardId }) => ({ projectId, cardId }));
}

/**
 * The next night that has to redeem rewards: the one after a night that redeemed some, or after an assignment, else that of
 * today. Null if that of today was the last one. Nights in between redeem rewards when they have other work. A night after
 * today, of a clock that was set back, does not count.
 */
export async function findNextAutoRedeemNight(
  db: Queryable,
  projectId: string,
  today: LocalDate,
): Promise<LocalDate | null> {
  const { rows } = await db.query<AutoRedeemState>(
    `select a.first, a.last, p.time_zone, n.date as night, n.redeemed
       from (select min(coalesce(updated_at, created_at)) as first, max(coalesce(updated_at, created_at)) as last
               from reward_assignment
              where project_id = $1 and auto_redeem) as a
       left join auto_redeem_night n on n.project_id = $1
       left join project p on p.project_id = $1
      where a.first is not null and n.date is distinct from $2::date`,
    [projectId, today],
  );
  return rows[0] === undefined ? null : nextNight(rows[0], today);
}

type AutoRedeemState = {
  /** When the first and the last assignment changed. */
  readonly first: Date;
  readonly last: Date;
  /** Null: the project has not arrived. */
  readonly time_zone: string | null;
  /** The last night. */
  readonly night: LocalDate | null;
  readonly redeemed: boolean | null;
};

function nextNight(state: AutoRedeemState, today: LocalDate): LocalDate {
  const { night, redeemed } = state;
  const timeZone = state.time_zone ?? DEFAULT_CALENDAR.timeZone;
  if (night === null) {
    const first = addDays(localDateAt(timeZone, state.first.getTime()), 1);
    return first < today ? first : today;
  }
  const isNextDue = redeemed === true || localDateAt(timeZone, state.last.getTime()) >= night;
  return night < today && isNextDue ? addDays(night, 1) : today;
}

type NightKey = {
  readonly projectId: string;
  readonly date: LocalDate;
  /** The project's current date. */
  readonly today: LocalDate;
};

/** Whether a night has redeemed rewards, or a later one until today. */
export async function isAutoRedeemNightOver(
  db: Queryable,
  { projectId, date, today }: NightKey,
): Promise<boolean> {
  const { rows } = await db.query(
    `select 1 as night from auto_redeem_night
      where project_id = $1 and date between $2::date and $3::date`,
    [projectId, date, today],
  );
  return rows.length > 0;
}

/** Changes nothing if a later night until today is stored. */
export async function saveAutoRedeemNight(
  db: Queryable,
  { projectId, date, today, redeemed }: NightKey & { readonly redeemed: boolean },
): Promise<void> {
  await db.query(
    `insert into auto_redeem_night as n (project_id, date, redeemed) values ($1, $2, $3)
         on conflict (project_id) do update set date = excluded.date, redeemed = excluded.redeemed
      where n.date < excluded.date or n.date > $4::date`,
    [projectId, date, redeemed, today],
  );
}
