import { fromBinary } from "@bufbuild/protobuf";
import {
  type Chunk,
  type ChunkRequest,
  type InvariantCheck,
  listProjectsIn,
  type Queryable,
  type Violation,
} from "@scrip/postgres";
import { RedemptionMadeSchema } from "@scrip/proto/scrip/events/v1/redemptions_pb";
import { CommitOutcomeSchema } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";

import { REDEMPTIONS_TOPIC } from "../events/published.ts";

/** Every project that has vouchers or redemptions, also one that the gateway no longer knows. */
export const listVoucherProjects = (db: Queryable): Promise<readonly string[]> =>
  listProjectsIn(db, "voucher_usage");

export const voucherInvariants: readonly InvariantCheck[] = [
  {
    name: "I1 quantity",
    states: "a voucher counts its successful redemptions, and never more than its quantity",
    checkChunk: (db, request) => check(db, QUANTITIES, request),
  },
  {
    name: "I2 balance",
    states:
      "a gift voucher's balance is what was put on it less what was spent, and never negative",
    checkChunk: (db, request) => check(db, BALANCES, request),
  },
  {
    name: "I2 ledger",
    states:
      "ledger entries count from 1 without gaps, and each balance follows from the one before",
    checkChunk: (db, request) => check(db, LEDGERS, request),
  },
  {
    name: "I2 spends",
    states: "each spend in the ledger is a successful redemption of that voucher and amount",
    checkChunk: (db, request) => check(db, SPENDS, request),
  },
  {
    name: "I3 vouchers",
    states: "each redemption belongs to a voucher, and each voucher has its counters",
    checkChunk: (db, request) => check(db, OWNERS, request),
  },
  {
    name: "I4 answers",
    states:
      "each kept answer to an Idempotency-Key names redemptions that are there, no two the same",
    checkChunk: checkAnswers,
  },
];

/** Answers one row for each that was checked: its id, and what is wrong with it or null. */
async function check(db: Queryable, sql: string, request: ChunkRequest): Promise<Chunk> {
  const { rows } = await db.query<{ id: string; fault: string | null }>(sql, [
    request.projectId,
    request.after,
    request.limit,
  ]);
  const last = rows.at(-1)?.id ?? null;
  return {
    checked: rows.length,
    last: rows.length < request.limit ? null : last,
    violations: rows.flatMap(({ id, fault }) =>
      fault === null ? [] : [{ subject: id, details: fault }],
    ),
  };
}

const QUANTITIES = `
  select u.voucher_id as id,
         case when u.redeemed_quantity is distinct from made.count
              then format('counts %s redemptions, has %s', u.redeemed_quantity, made.count)
              when u.redeemed_quantity > u.quantity
              then format('was redeemed %s times, allows %s', u.redeemed_quantity, u.quantity)
          end as fault
    from voucher_usage u
   cross join lateral (
           select count(*) as count from redemption r
            where r.project_id = u.project_id and r.voucher_id = u.voucher_id
              and r.status = 'SUCCEEDED'
         ) made
   where u.project_id = $1 and u.voucher_id > $2
   order by u.voucher_id
   limit $3`;

const BALANCES = `
  select u.voucher_id as id,
         case when u.amount is null and (u.balance is not null or u.redeemed_amount <> 0)
              then 'has a balance without being a gift'
              when u.balance is distinct from u.amount - made.amount
              then format('holds %s; %s less spends of %s is %s', u.balance, u.amount, made.amount,
                          u.amount - made.amount)
              when u.amount is not null and u.redeemed_amount <> made.amount
              then format('counts spends of %s, has %s', u.redeemed_amount, made.amount)
              when u.balance < 0
              then format('is overdrawn: %s', u.balance)
          end as fault
    from voucher_usage u
   cross join lateral (
           select coalesce(sum(r.amount), 0)::int8 as amount from redemption r
            where r.project_id = u.project_id and r.voucher_id = u.voucher_id
              and r.status = 'SUCCEEDED'
         ) made
   where u.project_id = $1 and u.voucher_id > $2
   order by u.voucher_id
   limit $3`;

const LEDGERS = `
  select u.voucher_id as id,
         case when u.amount is null and chain.entries > 0
              then 'has a ledger without being a gift'
              when chain.entries <> u.ledger_version
              then format('counts %s entries, has %s', u.ledger_version, chain.entries)
              when chain.gaps > 0
              then format('%s entries are not numbered one after the other', chain.gaps)
              when chain.breaks > 0
              then format('%s balances do not follow from the one before', chain.breaks)
              when u.amount is not null and chain.total is distinct from u.balance
              then format('holds %s, its entries add up to %s', u.balance, chain.total)
          end as fault
    from voucher_usage u
   cross join lateral (
           select count(*) as entries, coalesce(sum(e.amount), 0)::int8 as total,
                  count(*) filter (where e.version <> e.position) as gaps,
                  count(*) filter (where e.balance_after <> e.running) as breaks
             from (select version, amount, balance_after,
                          row_number() over (order by version) as position,
                          sum(amount) over (order by version) as running
                     from voucher_ledger_entry
                    where project_id = u.project_id and voucher_id = u.voucher_id) e
         ) chain
   where u.project_id = $1 and u.voucher_id > $2
   order by u.voucher_id
   limit $3`;

const SPENDS = `
  select u.voucher_id as id, fault.text as fault
    from voucher_usage u
   cross join lateral (
           select string_agg(format('entry %s of %s: redemption %s has %s', e.version, e.amount,
                                    e.redemption_id, coalesce(r.amount::text, 'none')), '; ') as text
             from voucher_ledger_entry e
             left join redemption r
               on r.project_id = e.project_id and r.id = e.redemption_id
              and r.voucher_id = e.voucher_id and r.status <> 'FAILED'
            where e.project_id = u.project_id and e.voucher_id = u.voucher_id
              and e.redemption_id is not null
              and abs(e.amount) is distinct from r.amount
         ) fault
   where u.project_id = $1 and u.voucher_id > $2
   order by u.voucher_id
   limit $3`;

const OWNERS = `
  select r.id,
         case when v.id is null then format('belongs to no voucher: %s', r.voucher_id)
              when u.voucher_id is null then format('its voucher %s has no counters', r.voucher_id)
          end as fault
    from redemption r
    left join voucher v on v.project_id = r.project_id and v.id = r.voucher_id
    left join voucher_usage u on u.project_id = r.project_id and u.voucher_id = r.voucher_id
   where r.project_id = $1 and r.id > $2
   order by r.id
   limit $3`;

async function checkAnswers(db: Queryable, request: ChunkRequest): Promise<Chunk> {
  const { rows } = await db.query<{ key: string; outcome: Uint8Array }>(
    `select key, outcome from idempotency
      where project_id = $1 and key > $2
      order by key
      limit $3`,
    [request.projectId, request.after, request.limit],
  );
  const named = rows.flatMap(({ key, outcome }) =>
    redemptionsOf(outcome).map((redemption) => ({ key, ...redemption })),
  );
  const { rows: found } = await db.query<{ id: string; status: string }>(
    "select id, status from redemption where project_id = $1 and id = any($2::text[])",
    [request.projectId, named.map(({ id }) => id)],
  );
  const statuses = new Map(found.map(({ id, status }) => [id, status]));
  const firstKeys = new Map<string, string>();
  const violations: Violation[] = [];
  for (const { key, id, made } of named) {
    const status = statuses.get(id);
    const first = firstKeys.get(id);
    if (status === undefined) violations.push({ subject: key, details: `${id} does not exist` });
    else if ((status !== "FAILED") !== made) {
      violations.push({ subject: key, details: `${id} was answered otherwise than ${status}` });
    }
    if (first !== undefined)
      violations.push({ subject: key, details: `${id} answers ${first} too` });
    firstKeys.set(id, key);
  }
  const last = rows.at(-1)?.key ?? null;
  return { checked: rows.length, last: rows.length < request.limit ? null : last, violations };
}

function redemptionsOf(answer: Uint8Array): { id: string; made: boolean }[] {
  const { outcome } = fromBinary(CommitOutcomeSchema, answer);
  if (outcome.case === "made") {
    return outcome.value.redemptions.map(({ id }) => ({ id, made: true }));
  }
  const { resourceType, resourceId } = (outcome.case === "refused" && outcome.value) || {};
  return resourceType === "redemption" && resourceId ? [{ id: resourceId, made: false }] : [];
}

export type EventCheckRequest = {
  readonly projectId: string;
  /** The payloads on the bus, read after the outbox; null when the bus cannot be read back. */
  readonly published: AsyncIterable<Uint8Array> | null;
  /** Real time, in milliseconds. */
  readonly now: number;
};

/** Redemptions younger than this may have been committed while the events were read. */
const SETTLED_MS = 30_000;
/** One hour less than the bus keeps its events. */
const PROVABLE_MS = 71 * 3_600_000;
/** What is held in memory: about 200 MB. */
const MOST_EVENTS = 2_000_000;
const CHUNK = 5_000;

/**
 * I5: each redemption is announced by one event, and each event names a redemption. The relay moves
 * rows from the outbox to the bus and deletes them after that, so what is in neither, when the bus is
 * read last, was lost. Only what the bus still keeps can be proven; without it, only the outbox is
 * checked.
 */
export async function checkRedemptionEvents(
  db: Queryable,
  { projectId, published, now }: EventCheckRequest,
): Promise<Omit<Chunk, "last">> {
  const violations: Violation[] = [];
  const announced = new Set<string>();
  for await (const { id, payload } of readOutbox(db, projectId)) {
    const { redemptionId } = fromBinary(RedemptionMadeSchema, payload);
    if (announced.has(redemptionId)) {
      violations.push({ subject: redemptionId, details: `is announced twice, also by ${id}` });
    }
    announced.add(redemptionId);
  }
  if (published === null) return { checked: announced.size, violations };
  // The bus delivers at least once, so a repeat on it is no fault.
  for await (const payload of published) {
    const { redemptionId } = fromBinary(RedemptionMadeSchema, payload);
    if (announced.size >= MOST_EVENTS) {
      const details = `more than ${MOST_EVENTS} events are kept: too many to check`;
      return { checked: 0, violations: [{ subject: projectId, details }] };
    }
    announced.add(redemptionId);
  }
  const oldest = idAt(now - PROVABLE_MS);
  const newest = idAt(now - SETTLED_MS);
  let checked = 0;
  for await (const id of readMade(db, projectId, oldest)) {
    const isAnnounced = announced.delete(id);
    if (id > newest) continue;
    checked += 1;
    if (!isAnnounced) violations.push({ subject: id, details: "is announced by no event" });
  }
  for (const id of announced) {
    if (id >= oldest && id <= newest) {
      violations.push({ subject: id, details: "is announced, and is no successful redemption" });
    }
  }
  return { checked, violations };
}

/** Ids begin with the milliseconds of their making, whatever the project's clock says. */
const idAt = (milliseconds: number): string => `r_${milliseconds.toString(16).padStart(12, "0")}`;

async function* readOutbox(
  db: Queryable,
  projectId: string,
): AsyncGenerator<{ id: string; payload: Uint8Array }> {
  let after = "";
  for (;;) {
    const { rows } = await db.query<{ id: string; payload: Uint8Array }>(
      `select id, payload from outbox
        where project_id = $1 and id > $2 and topic = '${REDEMPTIONS_TOPIC}'
        order by id
        limit ${CHUNK}`,
      [projectId, after],
    );
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < CHUNK) return;
    after = last.id;
  }
}

async function* readMade(db: Queryable, projectId: string, from: string): AsyncGenerator<string> {
  let after = from;
  for (;;) {
    const { rows } = await db.query<{ id: string }>(
      `select id from redemption
        where project_id = $1 and id > $2 and status <> 'FAILED'
        order by id
        limit ${CHUNK}`,
      [projectId, after],
    );
    yield* rows.map(({ id }) => id);
    const last = rows.at(-1);
    if (last === undefined || rows.length < CHUNK) return;
    after = last.id;
  }
}
