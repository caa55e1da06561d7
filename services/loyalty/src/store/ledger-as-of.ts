import type { Queryable } from "@scrip/postgres";

import { keyOf } from "../domain/key.ts";
import type { PointsAsOf } from "../domain/points-as-of.ts";
import { conditionOf, pagesOfMembers, type Program } from "./member-pages.ts";

/** `owner` is the card, or empty for the sum over a program. */
type Row = {
  project_id: string;
  owner: string;
  kind: "cards" | "initial" | "entry" | "lot" | "pending";
  name: string;
  points: bigint;
};

/**
 * Sums over the cards of `scope (owner, project_id, card_id, initial_points)` at the time `$1`. The scope has no other cards
 * than those whose id satisfies `cardIs`, which lets Postgres read the entries of many neighbouring cards in one range.
 */
const sumsOver = (scope: string, cardIs: (cardId: string) => string = () => "true"): string => `
  with scope as (${scope})
  select project_id, owner, 'cards' as kind, '' as name, count(*) as points from scope group by 1, 2
   union all
  select project_id, owner, 'initial', '', sum(initial_points)::int8 from scope group by 1, 2
   union all
  select s.project_id, s.owner, m.kind, m.name, sum(m.points)::int8
    from scope s join ledger_entry e on e.project_id = s.project_id and e.card_id = s.card_id
   cross join lateral (
           select 'entry' as kind, e.type as name, e.points as points
            union all
           select 'lot', l.key, l.value::int8 from jsonb_each_text(e.lots) l
         ) m
   where e.created_at <= $1 and ${cardIs("e.card_id")} group by 1, 2, 3, 4
   union all
  select s.project_id, s.owner, 'pending', '', sum(p.granted - p.later)::int8
    from scope s
   cross join lateral (
           select case when status = 'PENDING' or (changes = '[]' and updated_at > $1) then points else 0 end as granted,
                  (select coalesce(sum((c->>'points')::int8), 0) from jsonb_array_elements(changes) c
                    where (c->>'at')::int8 > extract(epoch from $1::timestamptz) * 1000) as later
             from pending_points p
            where p.project_id = s.project_id and p.card_id = s.card_id and p.created_at <= $1
         ) p
   group by 1, 2`;

/** Cards of one statement: with a thousand entries each, it still ends before its timeout. */
const CARDS_OF_PAGE = 500;

/**
 * The points that the published cards of a program had at a time, by pages of cards. The pages are exact together only in one
 * snapshot: a transfer in between would count twice, or not at all.
 */
export async function* sumProgramAsOf(
  tx: Queryable,
  program: Program & { readonly asOf: number },
  cardsOfPage: number = CARDS_OF_PAGE,
): AsyncGenerator<PointsAsOf> {
  const { projectId, campaignId } = program;
  const time = new Date(program.asOf);
  for await (const page of pagesOfMembers(tx, program, () => cardsOfPage)) {
    const { isOfPage, values } = conditionOf(page, 4);
    const { rows } = await tx.query<Row>(
      sumsOver(
        `select '' as owner, project_id, card_id, initial_points from loyalty_member
          where project_id = $2 and campaign_id = $3 and joined_at <= $1 and ${isOfPage("card_id")}`,
        isOfPage,
      ),
      [time, projectId, campaignId, ...values],
    );
    yield pointsOf(rows);
  }
}

/**
 * The points that cards had at a time, by `keyOf` of project and card: none before their publication, and of cards without a
 * holder the points that they were created with.
 */
export async function readCardsAsOf(
  db: Queryable,
  cards: readonly {
    readonly projectId: string;
    readonly cardId: string;
    readonly initialPoints: bigint;
  }[],
  asOf: number,
): Promise<ReadonlyMap<string, PointsAsOf>> {
  const { rows } = await db.query<Row>(
    sumsOver(`select card_id as owner, project_id, card_id, c.initial_points
                from unnest($2::text[], $3::text[], $4::int8[]) c (project_id, card_id, initial_points)
                left join loyalty_member m using (project_id, card_id)
               where m.card_id is null or m.joined_at <= $1`),
    [
      new Date(asOf),
      cards.map(({ projectId }) => projectId),
      cards.map(({ cardId }) => cardId),
      cards.map(({ initialPoints }) => initialPoints),
    ],
  );
  const groups = Map.groupBy(rows, (row) => keyOf(row.project_id, row.owner));
  return new Map([...groups].map(([key, ofCard]) => [key, pointsOf(ofCard)]));
}

function pointsOf(rows: readonly Row[]): PointsAsOf {
  const sum = (kind: Row["kind"]): bigint =>
    rows.reduce((all, row) => (row.kind === kind ? all + row.points : all), 0n);
  const named = (kind: Row["kind"]) =>
    new Map(rows.filter((row) => row.kind === kind).map(({ name, points }) => [name, points]));
  return {
    cards: sum("cards"),
    initialPoints: sum("initial"),
    entries: named("entry"),
    lots: named("lot"),
    pendingPoints: sum("pending"),
  };
}
