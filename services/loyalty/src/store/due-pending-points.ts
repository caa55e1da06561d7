import type { Queryable } from "@scrip/postgres";

import type { LocalDate } from "../domain/local-date.ts";
import { COLUMNS, fromRow, type PendingPoints, type PendingRow } from "./pending-points.ts";

/** The earliest date in this range on which entries become active; null without one. */
export async function findNextActivation(
  db: Queryable,
  projectId: string,
  { after, until }: { readonly after: LocalDate | null; readonly until: LocalDate },
): Promise<LocalDate | null> {
  const { rows } = await db.query<{ date: LocalDate | null }>(
    `select min(activates_on) as date from pending_points
      where project_id = $1 and status = 'PENDING' and activates_on <= $2::date
        and ($3::date is null or activates_on > $3::date)`,
    [projectId, until, after],
  );
  return rows[0]?.date ?? null;
}

type Due = { readonly projectId: string; readonly date: LocalDate };

/** Ids of cards with entries that become active on this date or before, in their order. */
export async function findCardsWithDuePending(
  db: Queryable,
  { projectId, date, after, limit }: Due & { readonly after: string; readonly limit: number },
): Promise<readonly string[]> {
  const { rows } = await db.query<{ card_id: string }>(
    `select card_id from pending_points
      where project_id = $1 and status = 'PENDING' and activates_on <= $2::date and card_id > $3
      group by card_id
      order by card_id
      limit $4`,
    [projectId, date, after, limit],
  );
  return rows.map(({ card_id: id }) => id);
}

/** Entries of these cards that become active on this date or before, oldest first. */
export async function findDuePendingPoints(
  db: Queryable,
  { projectId, date, cardIds }: Due & { readonly cardIds: readonly string[] },
): Promise<readonly PendingPoints[]> {
  const { rows } = await db.query<PendingRow>(
    `select ${COLUMNS} from pending_points
      where project_id = $1 and status = 'PENDING' and activates_on <= $2::date
        and card_id = any($3::text[])
      order by activates_on, id`,
    [projectId, date, cardIds],
  );
  return rows.map(fromRow);
}
