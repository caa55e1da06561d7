import type { Queryable } from "@scrip/postgres";

import type { CustomerActivity } from "../domain/customer.ts";
import { keyOf } from "../domain/key.ts";
import type { ActivityReads } from "../domain/segment-reads.ts";

type Row = {
  readonly project_id: string;
  readonly customer_id: string;
  readonly name: string | null;
  readonly amount: bigint;
};

type CardsRow = Row & { readonly redeemed: bigint };

type CustomerReads = {
  readonly projectId: string;
  readonly id: string;
  readonly reads: ActivityReads;
};

/** SQL of the points on a card: one without entries has its initial points. */
export const POINTS_OF_CARD = "coalesce(k.balance, m.initial_points)";

/** SQL of the points that were redeemed with a card. */
export const REDEEMED_POINTS = "coalesce(k.redeemed_points, 0)";

/** SQL of the cards that customers hold. */
export const HELD_CARDS = `loyalty_member m
  left join loyalty_card k on k.project_id = m.project_id and k.id = m.card_id
  left join loyalty_program p on p.project_id = m.project_id and p.id = m.campaign_id`;

/** Points by program and custom events by name, by `keyOf` of project and customer; those without any are absent. */
export async function findActivity(
  db: Queryable,
  customers: readonly CustomerReads[],
): Promise<ReadonlyMap<string, CustomerActivity>> {
  const [points, events] = await Promise.all([
    findPoints(
      db,
      customers.filter(({ reads }) => reads.points),
    ),
    countEvents(
      db,
      customers.flatMap(({ projectId, id, reads }) =>
        [...reads.events].map(([name, limit]) => ({ projectId, id, name, limit })),
      ),
    ),
  ]);
  const pointsOf = Map.groupBy(points, customerOf);
  const eventsOf = Map.groupBy(events, customerOf);
  return new Map(
    [...new Set([...pointsOf.keys(), ...eventsOf.keys()])].map((key) => {
      const cards = pointsOf.get(key) ?? [];
      return [
        key,
        {
          points: cards.reduce((sum, { amount }) => sum + amount, 0n),
          redeemedPoints: cards.reduce((sum, { redeemed }) => sum + redeemed, 0n),
          pointsByProgram: byName(cards),
          events: byName(eventsOf.get(key) ?? []),
        },
      ];
    }),
  );
}

async function findPoints(
  db: Queryable,
  customers: readonly CustomerReads[],
): Promise<readonly CardsRow[]> {
  if (customers.length === 0) return [];
  const { rows } = await db.query<CardsRow>(
    `select m.project_id, m.customer_id, p.name, sum(${POINTS_OF_CARD})::bigint as amount,
            sum(${REDEEMED_POINTS})::bigint as redeemed
       from ${HELD_CARDS}
      where (m.project_id, m.customer_id) in (select * from unnest($1::text[], $2::text[]))
      group by m.project_id, m.customer_id, p.name`,
    [customers.map(({ projectId }) => projectId), customers.map(({ id }) => id)],
  );
  return rows;
}

type EventCount = {
  readonly projectId: string;
  readonly id: string;
  readonly name: string;
  readonly limit: bigint;
};

/** Counts no further than the limits: customers may have sent events for years. */
async function countEvents(db: Queryable, counts: readonly EventCount[]): Promise<readonly Row[]> {
  if (counts.length === 0) return [];
  const { rows } = await db.query<Row>(
    `select w.project_id, w.customer_id, w.name,
            (select count(*)
               from (select from custom_event e
                      where e.project_id = w.project_id and e.customer_id = w.customer_id and e.name = w.name
                      limit w.most) counted) as amount
       from unnest($1::text[], $2::text[], $3::text[], $4::bigint[])
            as w (project_id, customer_id, name, most)`,
    [
      counts.map(({ projectId }) => projectId),
      counts.map(({ id }) => id),
      counts.map(({ name }) => name),
      counts.map(({ limit }) => limit),
    ],
  );
  return rows;
}

const customerOf = (row: Row): string => keyOf(row.project_id, row.customer_id);

/** Cards outside programs have no name. */
const byName = (rows: readonly Row[]): ReadonlyMap<string, bigint> =>
  new Map(rows.flatMap(({ name, amount }) => (name === null ? [] : [[name, amount]])));
