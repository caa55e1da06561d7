import {
  batchOf,
  buildStatement,
  column,
  columnNames,
  type ColumnTable,
  int8Array,
  type Queryable,
  textArray,
} from "@scrip/postgres";

import type { PointsHold, PointsHoldStatus } from "../domain/card.ts";
import type { ResolvedPointsHold } from "../domain/resolve-holds.ts";
import type { HeldRewards } from "../domain/tiers/held-points.ts";
import type { CardKey } from "./loyalty-members.ts";

export type PointsHoldKey = { readonly projectId: string; readonly id: string };

type PointsHoldRow = {
  project_id: string;
  id: string;
  card_id: string;
  points: bigint;
  status: PointsHoldStatus;
  request_key: string | null;
  reward_id: string;
  takes_stock: boolean;
  quantity: bigint;
  redemption_id: string | null;
  session_key: string | null;
  locked_points: bigint | null;
  locked_until: Date | null;
  automatic: boolean;
  at: Date;
};

const columns: ColumnTable<PointsHold> = {
  project_id: column.text(({ projectId }) => projectId),
  id: column.text(({ id }) => id),
  card_id: column.text(({ cardId }) => cardId),
  points: column.int8(({ points }) => points),
  status: column.text(({ status }) => status),
  request_key: column.text(({ requestKey }) => requestKey),
  reward_id: column.text(({ rewardId }) => rewardId),
  takes_stock: column.bool(({ takesStock }) => takesStock),
  quantity: column.int8(({ quantity }) => quantity),
  redemption_id: column.text(({ redemptionId }) => redemptionId),
  session_key: column.text(({ sessionKey }) => sessionKey),
  locked_points: column.int8(({ lockedPoints }) => lockedPoints),
  locked_until: column.timestamp(({ lockedUntil }) => lockedUntil),
  automatic: column.bool(({ automatic }) => automatic),
  at: column.timestamp(({ at }) => at),
};

const COLUMNS = columnNames(columns);

export async function insertPointsHolds(
  tx: Queryable,
  holds: readonly PointsHold[],
): Promise<void> {
  if (holds.length > 0) await tx.query(insertStatement({ holds }));
}

const insertStatement = buildStatement({
  parts: { holds: batchOf(columns) },
  text: ({ holds }) => `
    insert into points_spend (${holds.columns})
    select ${holds.columns} from ${holds.rows("one")}`,
});

export async function findPointsHolds(
  db: Queryable,
  keys: readonly PointsHoldKey[],
): Promise<readonly PointsHold[]> {
  if (keys.length === 0) return [];
  const { rows } = await db.query<PointsHoldRow>(
    `select ${COLUMNS} from points_spend
      where (project_id, id) in (select * from unnest($1::text[], $2::text[]))`,
    [keys.map(({ projectId }) => projectId), keys.map(({ id }) => id)],
  );
  return rows.map(pointsHoldFromRow);
}

export async function findPendingHoldsOfCards(
  db: Queryable,
  cards: readonly { readonly projectId: string; readonly cardId: string }[],
): Promise<readonly PointsHold[]> {
  if (cards.length === 0) return [];
  const { rows } = await db.query<PointsHoldRow>(
    `select ${COLUMNS} from points_spend
      where status = 'PENDING'
        and (project_id, card_id) in (select * from unnest($1::text[], $2::text[]))
      order by id`,
    [cards.map(({ projectId }) => projectId), cards.map(({ cardId }) => cardId)],
  );
  return rows.map(pointsHoldFromRow);
}

export async function updateResolvedHolds(
  tx: Queryable,
  resolved: readonly ResolvedPointsHold[],
): Promise<void> {
  if (resolved.length > 0) await tx.query(resolveStatement({ resolved }));
}

const resolveStatement = buildStatement({
  parts: {
    resolved: batchOf<ResolvedPointsHold>({
      project_id: column.text(({ projectId }) => projectId),
      id: column.text(({ id }) => id),
      status: column.text(({ status }) => status),
      redemption_id: column.text(({ redemptionId }) => redemptionId),
    }),
  },
  text: ({ resolved }) => `
    update points_spend s
       set status = item.status, redemption_id = item.redemption_id
      from ${resolved.rows("item")}
     where s.project_id = item.project_id and s.id = item.id`,
});

/** The event that commits an automatic redemption can wait for the redemptions of a night, or for a service to start. */
const AUTOMATIC_HOURS = 24;

/**
 * Of live projects, oldest first; those of automatic redemptions only after a day. Measured by the database clock, because a
 * sandbox project can have another one.
 */
export async function listPendingPointsHolds(
  db: Queryable,
  { olderThanMs, limit }: { readonly olderThanMs: number; readonly limit: number },
): Promise<readonly PointsHoldKey[]> {
  const { rows } = await db.query<{ project_id: string; id: string }>(
    `select project_id, id from points_spend
      where status = 'PENDING' and created_at < now() - $1::int8 * interval '1 millisecond'
        and (not automatic or created_at < now() - interval '${AUTOMATIC_HOURS} hours')
        and not exists (select from project
                         where project.project_id = points_spend.project_id and project.deleted)
      order by created_at
      limit $2`,
    [olderThanMs, limit],
  );
  return rows.map((row) => ({ projectId: row.project_id, id: row.id }));
}

const pointsHoldFromRow = (row: PointsHoldRow): PointsHold => ({
  projectId: row.project_id,
  id: row.id,
  cardId: row.card_id,
  points: row.points,
  status: row.status,
  requestKey: row.request_key,
  rewardId: row.reward_id,
  takesStock: row.takes_stock,
  quantity: row.quantity,
  redemptionId: row.redemption_id,
  sessionKey: row.session_key,
  lockedPoints: row.locked_points,
  lockedUntil: row.locked_until?.getTime() ?? null,
  automatic: row.automatic,
  at: row.at.getTime(),
});

/** A hold of an automatic redemption. */
export type AutomaticHold = CardKey &
  HeldRewards & {
    /** The entry of the ledger that deducted the points; null: none yet. */
    readonly claimedVersion: bigint | null;
  };

/** The holds of automatic redemptions that are pending, or were claimed after a version of the ledger of their card; oldest first. */
export async function findAutomaticHolds(
  db: Queryable,
  cards: readonly (CardKey & { readonly version: bigint })[],
): Promise<readonly AutomaticHold[]> {
  if (cards.length === 0) return [];
  const { rows } = await db.query<{
    project_id: string;
    card_id: string;
    points: bigint;
    quantity: bigint;
    claimed_version: bigint | null;
  }>(
    `with card as (
       select * from unnest($1::text[], $2::text[], $3::int8[]) as card (project_id, card_id, version)
     )
     select s.project_id, s.card_id, s.points, s.quantity, null::int8 as claimed_version, s.created_at, s.id
       from card
       join points_spend s on s.project_id = card.project_id and s.card_id = card.card_id
      where s.status = 'PENDING' and s.automatic
     union all
     select s.project_id, s.card_id, s.points, s.quantity, l.version, s.created_at, s.id
       from card
       join ledger_entry l on l.project_id = card.project_id and l.card_id = card.card_id
        and l.version > card.version and l.type = 'POINTS_REDEMPTION'
       join points_spend s on s.project_id = l.project_id and s.id = l.cause
      where s.automatic
      order by created_at, id`,
    [
      textArray(cards.map(({ projectId }) => projectId)),
      textArray(cards.map(({ cardId }) => cardId)),
      int8Array(cards.map(({ version }) => version)),
    ],
  );
  return rows.map((row) => ({
    projectId: row.project_id,
    cardId: row.card_id,
    price: row.points / row.quantity,
    quantity: row.quantity,
    claimedVersion: row.claimed_version,
  }));
}
