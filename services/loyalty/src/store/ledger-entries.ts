import type { JsonObject } from "@bufbuild/protobuf";
import type { FilterFields } from "@scrip/filters";
import {
  batchOf,
  buildStatement,
  column,
  type ProjectQueryable,
  type Queryable,
} from "@scrip/postgres";

import type { LotChange } from "../domain/card.ts";
import { keyOf } from "../domain/key.ts";
import type { RecordedEntry } from "../domain/move-points.ts";
import type { ChainedEntry } from "../ledger/chain-entries.ts";

export type EntryRow = {
  readonly id: string;
  readonly type: string;
  readonly points: bigint;
  readonly balance_after: bigint;
  readonly redemption_id: string | null;
  readonly rollback_id: string | null;
  readonly created_at: Date;
  readonly card_id: string;
  readonly total_after: bigint | null;
  readonly source: string | null;
  readonly source_id: string | null;
  readonly reason: string | null;
  readonly related_id: string | null;
  readonly details: JsonObject | null;
};

export const ledgerEntryFilters: FilterFields = {
  named: {
    id: { type: "text", sql: "id" },
    created_at: { type: "date", sql: "created_at" },
  },
};

export const programEntryFilters: FilterFields = {
  named: { ...ledgerEntryFilters.named, voucher_id: { type: "text", sql: "card_id" } },
};

/** Before and after all ids in every collation, so that the id condition is always present. */
const FIRST = "";
const LAST = "zzzz";

/** A page of the ledger of a card or of a program; ids sort by creation. */
export async function listLedgerEntries(
  db: ProjectQueryable,
  {
    projectId,
    of,
    conditions,
    values,
    limit,
    descending,
    afterId,
  }: {
    readonly projectId: string;
    /** What `$2` is. */
    readonly of: "card_id" | "campaign_id";
    readonly conditions: readonly string[];
    /** The project and the card or program, and the values of the conditions. */
    readonly values: readonly unknown[];
    readonly limit: number;
    readonly descending: boolean;
    readonly afterId: string | null;
  },
): Promise<readonly EntryRow[]> {
  const { rows } = await db.inProject(projectId).query<EntryRow>(
    `select id, type, points, balance_after, redemption_id, rollback_id, created_at, card_id,
            total_after, source, source_id, reason, related_id, details
       from ledger_entry
      where project_id = $1 and ${of} = $2 and id ${descending ? "<" : ">"} $${values.length + 1}
        and ${conditions.join(" and ")}
      order by id ${descending ? "desc" : "asc"}
      limit $${values.length + 2}`,
    [...values, afterId ?? (descending ? LAST : FIRST), limit],
  );
  return rows;
}

/** A loyalty program, and a range of instants; `until` is exclusive. */
export type ProgramPeriod = {
  readonly projectId: string;
  readonly campaignId: string;
  readonly from: number | null;
  readonly until: number | null;
};

/** The points of a program's entries by type, within a period whose end is exclusive. */
export async function sumLedgerByType(
  db: Queryable,
  program: ProgramPeriod,
): Promise<ReadonlyMap<string, bigint>> {
  const { projectId, campaignId, from, until } = program;
  const { rows } = await db.query<{ type: string; points: bigint }>(
    `select type, sum(points)::bigint as points
       from ledger_entry
      where project_id = $1 and campaign_id = $2
        and ($3::timestamptz is null or created_at >= $3)
        and ($4::timestamptz is null or created_at < $4)
      group by type`,
    [
      projectId,
      campaignId,
      from === null ? null : new Date(from),
      until === null ? null : new Date(until),
    ],
  );
  return new Map(rows.map(({ type, points }) => [type, points]));
}

export async function insertEntries(
  tx: Queryable,
  entries: readonly ChainedEntry[],
): Promise<void> {
  if (entries.length > 0) await tx.query(insertStatement({ entries }));
}

const insertStatement = buildStatement({
  parts: {
    entries: batchOf<ChainedEntry>({
      project_id: column.text(({ projectId }) => projectId),
      card_id: column.text(({ cardId }) => cardId),
      version: column.int8(({ version }) => version),
      id: column.text(({ id }) => id),
      type: column.text(({ type }) => type),
      points: column.int8(({ points }) => points),
      balance_after: column.int8(({ balanceAfter }) => balanceAfter),
      cause: column.text(({ cause }) => cause),
      redemption_id: column.text(({ redemptionId }) => redemptionId),
      rollback_id: column.sparseText(({ rollbackId }) => rollbackId),
      reward_id: column.text(({ rewardId }) => rewardId),
      created_at: column.timestamp(({ at }) => at),
      campaign_id: column.sparseText(({ campaignId }) => campaignId),
      total_after: column.int8(({ totalAfter }) => totalAfter),
      lots: column.json(({ lots }) => lotsToJson(lots)),
      source: column.sparseText(({ source }) => source),
      source_id: column.sparseText(({ sourceId }) => sourceId),
      reason: column.sparseText(({ reason }) => reason),
      related_id: column.sparseText(({ relatedId }) => relatedId),
      details: column.json(({ details }) => details),
      previous_hash: column.bytea(({ previousHash }) => previousHash),
      hash: column.bytea(({ hash }) => hash),
    }),
  },
  text: ({ entries }) => `
    insert into ledger_entry (${entries.columns})
    select ${entries.columns} from ${entries.rows("one")}`,
});

/** An object of dates and numbers, which are exact: a card holds less than 2^53 points. Null without lots. */
const lotsToJson = (lots: readonly LotChange[]): string | null =>
  lots.length === 0
    ? null
    : JSON.stringify(
        Object.fromEntries(lots.map(({ expiresOn, points }) => [expiresOn, Number(points)])),
      );

const lotsFromJson = (lots: Readonly<Record<string, number>>): readonly LotChange[] =>
  Object.entries(lots).map(([expiresOn, points]) => ({ expiresOn, points: BigInt(points) }));

/** What claimed holds took from lots, by `keyOf` of project and hold; nothing for those that took none. */
export async function findLotsOfHolds(
  tx: Queryable,
  holds: readonly {
    readonly projectId: string;
    readonly cardId: string;
    readonly id: string;
  }[],
): Promise<ReadonlyMap<string, readonly LotChange[]>> {
  if (holds.length === 0) return new Map();
  const { rows } = await tx.query<{
    project_id: string;
    cause: string;
    lots: Record<string, number>;
  }>(
    `select project_id, cause, lots from ledger_entry
      where lots is not null
        and (project_id, card_id, cause) in (select * from unnest($1::text[], $2::text[], $3::text[]))`,
    [
      holds.map(({ projectId }) => projectId),
      holds.map(({ cardId }) => cardId),
      holds.map(({ id }) => id),
    ],
  );
  return new Map(rows.map((row) => [keyOf(row.project_id, row.cause), lotsFromJson(row.lots)]));
}

/** The entries of causes, by `keyOf` of project, card and cause. */
export async function findRecordedEntries(
  tx: Queryable,
  causes: readonly {
    readonly projectId: string;
    readonly cardId: string;
    readonly cause: string;
  }[],
): Promise<ReadonlyMap<string, RecordedEntry>> {
  if (causes.length === 0) return new Map();
  const { rows } = await tx.query<{
    project_id: string;
    card_id: string;
    cause: string;
    id: string;
    balance_after: bigint;
    total_after: bigint | null;
  }>(
    `select project_id, card_id, cause, id, balance_after, total_after from ledger_entry
      where (project_id, card_id, cause) in (select * from unnest($1::text[], $2::text[], $3::text[]))`,
    [
      causes.map(({ projectId }) => projectId),
      causes.map(({ cardId }) => cardId),
      causes.map(({ cause }) => cause),
    ],
  );
  return new Map(
    rows.map(({ id, balance_after: balanceAfter, total_after: totalAfter, ...row }) => [
      keyOf(row.project_id, row.card_id, row.cause),
      { id, balanceAfter, totalAfter: totalAfter ?? balanceAfter },
    ]),
  );
}

/** Returns those of the causes that have a ledger entry, by `keyOf` of project, card and cause. */
export async function findCauses(
  tx: Queryable,
  causes: readonly {
    readonly projectId: string;
    readonly cardId: string;
    readonly cause: string;
  }[],
): Promise<ReadonlySet<string>> {
  if (causes.length === 0) return new Set();
  const { rows } = await tx.query<{ project_id: string; card_id: string; cause: string }>(
    `select project_id, card_id, cause from ledger_entry
      where (project_id, card_id, cause) in (select * from unnest($1::text[], $2::text[], $3::text[]))`,
    [
      causes.map(({ projectId }) => projectId),
      causes.map(({ cardId }) => cardId),
      causes.map(({ cause }) => cause),
    ],
  );
  return new Set(rows.map((row) => keyOf(row.project_id, row.card_id, row.cause)));
}
