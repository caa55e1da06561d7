import { type EventEnvelope, type Origin, originFromStored, originToStored } from "@scrip/events";
import { byteaArray, type Queryable, sparseText, textArray } from "@scrip/postgres";

/** An event of a customer who has no card of a program that has a rule for it. */
export type AwaitedCard = {
  readonly projectId: string;
  readonly customerId: string;
  readonly campaignId: string;
  readonly eventId: string;
  readonly topic: string;
  readonly type: string;
  readonly payload: Uint8Array;
  readonly requested: boolean;
  /** The request that caused the event. */
  readonly origin: Origin | undefined;
};

/** The customers must be locked. Repeatable. */
export async function insertAwaitedCards(
  tx: Queryable,
  cards: readonly AwaitedCard[],
): Promise<void> {
  if (cards.length === 0) return;
  await tx.query(
    `insert into awaited_card (project_id, customer_id, campaign_id, event_id, topic, type, payload, requested, origin)
     select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bytea[],
                          $8::bool[], $9::text[]::jsonb[])
         on conflict do nothing`,
    [
      textArray(cards.map(({ projectId }) => projectId)),
      textArray(cards.map(({ customerId }) => customerId)),
      textArray(cards.map(({ campaignId }) => campaignId)),
      textArray(cards.map(({ eventId }) => eventId)),
      textArray(cards.map(({ topic }) => topic)),
      textArray(cards.map(({ type }) => type)),
      byteaArray(cards.map(({ payload }) => payload)),
      cards.map(({ requested }) => requested),
      sparseText(cards.map(({ origin }) => originToStored(origin))),
    ],
  );
}

/** Removes and returns what waits for cards of these customers and programs, in the order of the events. */
export async function takeAwaitedCards(
  tx: Queryable,
  cards: readonly {
    readonly projectId: string;
    readonly customerId: string;
    readonly campaignId: string;
  }[],
): Promise<readonly AwaitedCard[]> {
  if (cards.length === 0) return [];
  const { rows } = await tx.query<{
    project_id: string;
    customer_id: string;
    campaign_id: string;
    event_id: string;
    topic: string;
    type: string;
    payload: Uint8Array;
    requested: boolean;
    origin: EventEnvelope["headers"] | null;
  }>(
    `delete from awaited_card
      where (project_id, customer_id, campaign_id) in (select * from unnest($1::text[], $2::text[], $3::text[]))
     returning *`,
    [
      textArray(cards.map(({ projectId }) => projectId)),
      textArray(cards.map(({ customerId }) => customerId)),
      textArray(cards.map(({ campaignId }) => campaignId)),
    ],
  );
  return rows
    .map((row) => ({
      projectId: row.project_id,
      customerId: row.customer_id,
      campaignId: row.campaign_id,
      eventId: row.event_id,
      topic: row.topic,
      type: row.type,
      payload: row.payload,
      requested: row.requested,
      origin: originFromStored(row.origin),
    }))
    .toSorted((a, b) => (a.eventId < b.eventId ? -1 : 1));
}

/** Deletes some of what waited for more than a day in vain, or for a requested card for more than 30 days. */
export async function trimAwaitedCards(db: Queryable, limit: number): Promise<number> {
  const { rowCount } = await db.query(
    `delete from awaited_card
      where ctid in (select ctid from awaited_card
                      where created_at < now() - interval '1 day'
                        and (not requested or created_at < now() - interval '30 days')
                      limit $1)`,
    [limit],
  );
  return rowCount ?? 0;
}
