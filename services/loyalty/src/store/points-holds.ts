import type { Queryable } from "@scrip/postgres";

import type { PointsSpend, SpendStatus } from "../domain/card.ts";

export type PointsHoldKey = { readonly projectId: string; readonly id: string };

type SpendRow = {
  project_id: string;
  id: string;
  card_id: string;
  points: bigint;
  status: SpendStatus;
  request_key: string | null;
  reward_id: string;
  takes_stock: boolean;
  redemption_id: string | null;
  session_key: string | null;
  locked_points: bigint | null;
  locked_until: Date | null;
  at: Date;
};

const COLUMNS = `project_id, id, card_id, points, status, request_key, reward_id, takes_stock, redemption_id,
  session_key, locked_points, locked_until, at`;

export async function insertSpends(tx: Queryable, spends: readonly PointsSpend[]): Promise<void> {
  if (spends.length === 0) return;
  await tx.query(
    `insert into points_spend (${COLUMNS})
     select * from unnest($1::text[], $2::text[], $3::text[], $4::int8[], $5::text[], $6::text[],
                          $7::text[], $8::bool[], $9::text[], $10::text[], $11::int8[],
                          $12::timestamptz[], $13::timestamptz[])`,
    [
      spends.map(({ projectId }) => projectId),
      spends.map(({ id }) => id),
      spends.map(({ cardId }) => cardId),
      spends.map(({ points }) => points),
      spends.map(({ status }) => status),
      spends.map(({ requestKey }) => requestKey),
      spends.map(({ rewardId }) => rewardId),
      spends.map(({ takesStock }) => takesStock),
      spends.map(({ redemptionId }) => redemptionId),
      spends.map(({ sessionKey }) => sessionKey),
      spends.map(({ lockedPoints }) => lockedPoints),
      spends.map(({ lockedUntil }) => (lockedUntil === null ? null : new Date(lockedUntil))),
      spends.map(({ at }) => new Date(at)),
    ],
  );
}

/** A spend never changes what it is of, so what to lock for it may be read before. */
export async function findSpends(
  db: Queryable,
  names: readonly PointsHoldKey[],
): Promise<readonly PointsSpend[]> {
  if (names.length === 0) return [];
  const { rows } = await db.query<SpendRow>(
    `select ${COLUMNS} from points_spend
      where (project_id, id) in (select * from unnest($1::text[], $2::text[]))`,
    [names.map(({ projectId }) => projectId), names.map(({ id }) => id)],
  );
  return rows.map(fromRow);
}

/** Those of these cards that wait for their redemption. */
export async function findPendingOfCards(
  db: Queryable,
  cards: readonly { readonly projectId: string; readonly cardId: string }[],
): Promise<readonly PointsSpend[]> {
  if (cards.length === 0) return [];
  const { rows } = await db.query<SpendRow>(
    `select ${COLUMNS} from points_spend
      where status = 'PENDING'
        and (project_id, card_id) in (select * from unnest($1::text[], $2::text[]))
      order by id`,
    [cards.map(({ projectId }) => projectId), cards.map(({ cardId }) => cardId)],
  );
  return rows.map(fromRow);
}

export type PointsHoldResolution = PointsHoldKey & {
  readonly status: Exclude<SpendStatus, "PENDING">;
  readonly redemptionId: string | null;
};

export async function endSpends(
  tx: Queryable,
  ends: readonly PointsHoldResolution[],
): Promise<void> {
  if (ends.length === 0) return;
  await tx.query(
    `update points_spend s
        set status = one.status, redemption_id = one.redemption_id
       from unnest($1::text[], $2::text[], $3::text[], $4::text[])
              as one (project_id, id, status, redemption_id)
      where s.project_id = one.project_id and s.id = one.id`,
    [
      ends.map(({ projectId }) => projectId),
      ends.map(({ id }) => id),
      ends.map(({ status }) => status),
      ends.map(({ redemptionId }) => redemptionId),
    ],
  );
}

/** By the database's clock, oldest first. */
export async function listPendingPointsHolds(
  db: Queryable,
  { olderThanMs, limit }: { readonly olderThanMs: number; readonly limit: number },
): Promise<readonly PointsHoldKey[]> {
  const { rows } = await db.query<{ project_id: string; id: string }>(
    `select project_id, id from points_spend
      where status = 'PENDING' and created_at < now() - $1::int8 * interval '1 millisecond'
      order by created_at
      limit $2`,
    [olderThanMs, limit],
  );
  return rows.map((row) => ({ projectId: row.project_id, id: row.id }));
}

const fromRow = (row: SpendRow): PointsSpend => ({
  projectId: row.project_id,
  id: row.id,
  cardId: row.card_id,
  points: row.points,
  status: row.status,
  requestKey: row.request_key,
  rewardId: row.reward_id,
  takesStock: row.takes_stock,
  redemptionId: row.redemption_id,
  sessionKey: row.session_key,
  lockedPoints: row.locked_points,
  lockedUntil: row.locked_until?.getTime() ?? null,
  at: row.at.getTime(),
});
