import {
  batchOf,
  boundedSum,
  buildStatement,
  column,
  type ColumnTable,
  type Queryable,
  type Statement,
} from "@scrip/postgres";
import type { CountScope } from "@scrip/rules";

import { type CountValue, type ProjectCount, projectCountKey } from "../domain/counts.ts";
import { type KeyColumn, keyFrom, keyOf } from "./redemption-keys.ts";

/**
 * Reads each distinct count once, in one statement per source; the statements share a round trip. Totals of a code,
 * campaign or tier are one row each. Counts of a customer, of an application or since an instant are aggregated over
 * the redemptions, through an index of the successful ones.
 */
export async function readCounts(
  db: Queryable,
  requested: readonly ProjectCount[],
): Promise<readonly CountValue[]> {
  if (requested.length === 0) return [];
  const counts = [...new Map(requested.map((count) => [projectCountKey(count), count])).values()];
  const bySource = Map.groupBy(counts, sourceOf);
  const found = await Promise.all(
    [...bySource].map(([source, some]) => readFrom(db, source, some)),
  );
  return found.flat();
}

async function readFrom(
  db: Queryable,
  source: string,
  counts: readonly ProjectCount[],
): Promise<readonly CountValue[]> {
  const { rows } = await db.query<{ position: bigint; value: bigint }>(
    statementOf(source)({ counts: counts.map((count, position) => ({ ...count, position })) }),
  );
  const found = new Map(rows.map(({ position, value }) => [Number(position), value]));
  return counts.map((count, position) => ({ count, value: found.get(position) ?? 0n }));
}

type NumberedCount = ProjectCount & { readonly position: number };

const countColumns: ColumnTable<NumberedCount> = {
  position: column.int8(({ position }) => BigInt(position)),
  project_id: column.text(({ projectId }) => projectId),
  scope_id: column.text(({ scope }) => scope.id),
  measure: column.text(({ measure }) => measure),
  customer_id: column.text(({ customerId }) => customerId),
  channel_id: column.text(({ channelId }) => channelId),
  since: column.timestamp(({ since }) => since),
  product_id: column.text(({ productId }) => productId),
};

type CountStatement = (input: { readonly counts: readonly NumberedCount[] }) => Statement;

/** One for each source, built when it is first needed: there are a few dozen. */
const statements = new Map<string, CountStatement>();

function statementOf(source: string): CountStatement {
  const known = statements.get(source);
  if (known !== undefined) return known;
  const built = buildStatement({
    name: `count-${source}`,
    planning: "indexLookups",
    parts: { counts: batchOf(countColumns) },
    text: ({ counts }) => textOf(source, counts.rows("name")),
  });
  statements.set(source, built);
  return built;
}

/** The source of a count: also the name of its statement. */
function sourceOf({ scope, measure, customerId, channelId, since }: ProjectCount): string {
  const isWhole = customerId === null && channelId === null && since === null;
  if (isWhole && scope.kind === "voucher" && measure === "REDEMPTIONS") return "usage";
  if (isWhole && scope.kind !== "voucher") return measure === "UNITS" ? "units" : "totals";
  const what = measure === "REDEMPTIONS" ? "number" : "sums";
  const whose = customerId === null ? "all" : "customer";
  return `${scope.kind}-${what}-${whose}${channelId === null ? "" : "-channel"}`;
}

const WHOLE: Readonly<Record<string, (names: string) => string>> = {
  usage: (names) => `select name.position, u.redeemed_quantity as value
            from ${names}
            join voucher_usage u
              on u.project_id = name.project_id and u.voucher_id = name.scope_id`,
  totals: (names) => `select name.position,
                  case name.measure when 'REDEMPTIONS' then t.redemptions
                                    when 'ORDERS_AMOUNT' then t.orders_amount
                                    when 'DISCOUNTED_AMOUNT' then t.discounted_amount
                                    else t.gift_credits end as value
             from ${names}
             join redemption_total t
               on t.project_id = name.project_id and t.scope_id = name.scope_id`,
  units: (names) => `select name.position, u.quantity as value
            from ${names}
            join redemption_units u
              on u.project_id = name.project_id and u.scope_id = name.scope_id
             and u.product_id = name.product_id`,
};

const COLUMNS: Readonly<Record<CountScope["kind"], KeyColumn>> = {
  voucher: "voucher_id",
  promotion_tier: "promotion_tier_id",
  campaign: "campaign_id",
};

/** Sums read the rows; a number is mostly an index-only scan. No limit exceeds the bound of a sum. */
const SUMS = boundedSum(`case name.measure
                when 'ORDERS_AMOUNT' then sum(r.order_amount)
                when 'DISCOUNTED_AMOUNT' then sum(r.discounted_amount)
                when 'GIFT_CREDITS' then sum(r.amount)
                else sum((r.units ->> name.product_id)::int8) end`);

/** `names` are the counts to read, as rows called `name`. */
function textOf(source: string, names: string): string {
  const whole = WHOLE[source];
  if (whole !== undefined) return whole(names);
  const [scope, what, whose, channel] = source.split("-");
  const scopeColumn = COLUMNS[scope as CountScope["kind"]];
  const [key, range] =
    whose === "customer"
      ? [
          keyOf("r", scopeColumn, "customer_id"),
          keyFrom("name.project_id", "name.scope_id", "name.customer_id"),
        ]
      : [keyOf("r", scopeColumn), keyFrom("name.project_id", "name.scope_id")];
  // A range in index order, which only the index of the key provides: a connection keeps its plan, and for a small
  // table other indexes look equally good.
  return `select name.position, r.value
            from ${names}
           cross join lateral (
                   select ${what === "number" ? "count(*)" : SUMS} as value
                     from (select r.*
                             from redemption r
                            where ${key} between ${range} and ${range}
                              and r.status = 'SUCCEEDED'
                              and r.created_at >= coalesce(name.since, '-infinity')
                              ${channel === undefined ? "" : "and r.channel_id = name.channel_id"}
                            order by ${key}) r
                 ) r`;
}
