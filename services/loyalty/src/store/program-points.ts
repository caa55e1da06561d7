import type { Queryable } from "@scrip/postgres";

import { NO_POINTS, type PointsAsOf } from "../domain/points-as-of.ts";
import { conditionOf, pagesOfMembers, type Program } from "./member-pages.ts";

/** Cards of the first and of the largest page. A card has a lot for each date on which points expire. */
const FIRST_PAGE = 1_000;
const LARGEST_PAGE = 20_000;

/** After a page that takes less time, the next one is twice as large, otherwise half as large. A statement may take three seconds. */
const PAGE_MS = 300;

type Figures = { readonly cards: bigint; readonly balance: bigint; readonly pending: bigint };
type Lot = { readonly date: string; readonly points: bigint };

/**
 * The points that the published cards of a program have now, by pages of cards: what `sumProgramAsOf` finds in their entries,
 * from their balances and lots. The pages are exact together only in one snapshot.
 */
export async function* sumProgram(
  tx: Queryable,
  program: Program,
  { first = FIRST_PAGE, largest = LARGEST_PAGE } = {},
): AsyncGenerator<PointsAsOf> {
  let cardsOfPage = first;
  for await (const page of pagesOfMembers(tx, program, () => cardsOfPage)) {
    const startedAt = performance.now();
    const { isOfPage, values: bounds } = conditionOf(page, 3);
    const values = [program.projectId, program.campaignId, ...bounds];
    const members = `select project_id, card_id, initial_points from loyalty_member
                      where project_id = $1 and campaign_id = $2 and ${isOfPage("card_id")}`;
    const { rows: figures } = await tx.query<Figures>(
      `select count(*) as cards, sum(coalesce(c.balance, m.initial_points))::int8 as balance,
              coalesce(sum(c.pending_points), 0)::int8 as pending
         from (${members}) m
         left join loyalty_card c on c.project_id = m.project_id and c.id = m.card_id and ${isOfPage("c.id")}`,
      values,
    );
    const { rows: lots } = await tx.query<Lot>(
      `select l.expires_on as date, sum(l.points)::int8 as points
         from (${members}) m
         join points_lot l on l.project_id = m.project_id and l.card_id = m.card_id
        where not l.expired and ${isOfPage("l.card_id")}
        group by l.expires_on`,
      values,
    );
    const isShort = performance.now() - startedAt < PAGE_MS;
    cardsOfPage = isShort ? Math.min(2 * cardsOfPage, largest) : Math.ceil(cardsOfPage / 2);
    yield {
      ...NO_POINTS,
      cards: figures[0]?.cards ?? 0n,
      initialPoints: figures[0]?.balance ?? 0n,
      lots: new Map(lots.map(({ date, points }) => [date, points])),
      pendingPoints: figures[0]?.pending ?? 0n,
    };
  }
}
