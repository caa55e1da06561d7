import type { Queryable } from "@scrip/postgres";

import type { CustomerActivity } from "../domain/customer.ts";
import { keyOf } from "../domain/key.ts";

type Row = {
  readonly project_id: string;
  readonly customer_id: string;
  readonly name: string | null;
  readonly amount: bigint;
};

type CustomerKey = { readonly projectId: string; readonly id: string };

/** SQL of the points on a card: one without entries has its initial points. */
export const POINTS_OF_CARD = "coalesce(k.balance, m.initial_points)";

/** SQL of the cards that customers hold. */
export const HELD_CARDS = `loyalty_member m
  left join loyalty_card k on k.project_id = m.project_id and k.id = m.card_id
  left join loyalty_program p on p.project_id = m.project_id and p.id = m.campaign_id`;

/** Points by program and custom events by name, by `keyOf` of project and customer; those without any are absent. */
export async function findActivity(
  db: Queryable,
  customers: readonly CustomerKey[],
): Promise<ReadonlyMap<string, CustomerActivity>> {
  if (customers.length === 0) return new Map();
  const values = [customers.map(({ projectId }) => projectId), customers.map(({ id }) => id)];
  const [points, events] = await Promise.all([
    db.query<Row>(
      `select m.project_id, m.customer_id, p.name, sum(${POINTS_OF_CARD})::bigint as amount
         from ${HELD_CARDS}
        where (m.project_id, m.customer_id) in (select * from unnest($1::text[], $2::text[]))
        group by m.project_id, m.customer_id, p.name`,
      values,
    ),
    db.query<Row>(
      `select project_id, customer_id, name, count(*) as amount
         from custom_event
        where (project_id, customer_id) in (select * from unnest($1::text[], $2::text[]))
        group by project_id, customer_id, name`,
      values,
    ),
  ]);
  const pointsOf = Map.groupBy(points.rows, customerOf);
  const eventsOf = Map.groupBy(events.rows, customerOf);
  return new Map(
    [...new Set([...pointsOf.keys(), ...eventsOf.keys()])].map((key) => {
      const cards = pointsOf.get(key) ?? [];
      return [
        key,
        {
          points: cards.reduce((sum, { amount }) => sum + amount, 0n),
          pointsByProgram: byName(cards),
          events: byName(eventsOf.get(key) ?? []),
        },
      ];
    }),
  );
}

const customerOf = (row: Row): string => keyOf(row.project_id, row.customer_id);

/** Cards outside programs have no name. */
const byName = (rows: readonly Row[]): ReadonlyMap<string, bigint> =>
  new Map(rows.flatMap(({ name, amount }) => (name === null ? [] : [[name, amount]])));
