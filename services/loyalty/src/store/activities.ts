import {
  batchOf,
  buildStatement,
  column,
  packBytes,
  type PartitionedTable,
  type ProjectQueryable,
  type Queryable,
  unpackBytes,
} from "@scrip/postgres";

import { isActivityId } from "../activity/activity-id.ts";
import type { ActivityData } from "../domain/activity-data.ts";

const DAY_MS = 24 * 3_600_000;

/**
 * Few partitions, because a list looks into each. Rows are retained for at most a week longer. `activity` has the
 * activities that earlier releases stored.
 */
export const activityTables = (keepMs: number): readonly PartitionedTable[] =>
  ["customer_activity", "activity"].map((table) => ({
    table,
    column: "occurred_at",
    everyMs: 7 * DAY_MS,
    keepMs,
  }));

const ID_PREFIX = "evcus_";
const TYPE_PREFIX = "customer.";

export type Activity = ActivityData & {
  readonly projectId: string;
  /** Null: the customer who holds the card, which the reader finds out. */
  readonly customerId: string | null;
  readonly id: string;
  readonly type: string;
  readonly cardId: string | null;
  readonly groupId: string;
  readonly createdAt: number;
  readonly occurredAt: number;
};

/** Stores activities of cards, and of customers that exist; repetitions change nothing. */
export async function insertActivities(
  db: Queryable,
  activities: readonly Activity[],
): Promise<void> {
  if (activities.length > 0) await db.query(insertStatement({ activities }));
}

const insertStatement = buildStatement({
  name: "insert-activities",
  planning: "indexLookups",
  parts: {
    activities: batchOf<Activity>({
      project_id: column.text(({ projectId }) => projectId),
      customer_id: column.text(({ customerId }) => customerId),
      owner_id: column.bytea(({ customerId, cardId }) => ownerToBytes(customerId ?? cardId ?? "")),
      id: column.bytea(({ id }) => activityIdToBytes(id)),
      type: column.text(({ type }) => type.slice(TYPE_PREFIX.length)),
      card_id: column.text(({ cardId }) => cardId),
      group_id: column.bytea(({ groupId }) => groupToBytes(groupId)),
      campaign_id: column.text(({ campaignId }) => campaignId),
      campaign_type: column.text(({ campaignType }) => campaignType),
      reward_id: column.text(({ rewardId }) => rewardId),
      product_ids: column.json(({ productIds }) => productIds && JSON.stringify(productIds)),
      data: column.bytea(({ data }) => packBytes(Buffer.from(JSON.stringify(data)))),
      created_at: column.timestamp(({ createdAt }) => createdAt),
      occurred_at: column.timestamp(({ occurredAt }) => occurredAt),
    }),
  },
  text: ({ activities }) => `
    insert into customer_activity (project_id, owner_id, id, type, card_id, group_id, campaign_id, campaign_type,
                                   reward_id, product_ids, data, created_at, occurred_at)
    select project_id, owner_id, id, type, card_id, group_id, campaign_id, campaign_type,
           reward_id, ${arrayOfJson("product_ids")}, data, created_at, occurred_at
      from ${activities.rows("item")}
     where customer_id is null
        -- A lookup for each: the plan is kept, and one for a small table would read all of a large one.
        or (select true
              from customer
             where project_id = item.project_id
               and id between item.customer_id and item.customer_id
             order by id
             limit 1)
        on conflict do nothing`,
});

/** SQL: the texts of a JSON array; null without one. */
function arrayOfJson(value: string): string {
  return `case when ${value} is not null then array(select jsonb_array_elements_text(${value})) end`;
}

const activityIdToBytes = (id: string): Uint8Array =>
  Buffer.from(id.slice(ID_PREFIX.length), "hex");

const DIGITS = /^(?!00)[0-9a-f]{18}$/;
const AS_TEXT = 0;

/** The digits of an id with this prefix in 9 bytes; an id of another form as it is, behind a zero. */
function idToBytes(prefix: string, id: string): Uint8Array {
  const digits = id.slice(prefix.length);
  return id.startsWith(prefix) && DIGITS.test(digits)
    ? Buffer.from(digits, "hex")
    : textToBytes(id);
}

const textToBytes = (id: string): Buffer => Buffer.concat([Buffer.of(AS_TEXT), Buffer.from(id)]);

const idFromBytes = (prefix: string, bytes: Buffer): string =>
  bytes[0] === AS_TEXT ? bytes.toString("utf8", 1) : prefix + bytes.toString("hex");

/** The owner as it is stored. */
export const ownerToBytes = (id: string): Uint8Array => idToBytes("cust_", id);

const GROUP = /^(event_|v-)((?!00)[0-7][0-9a-f]{17})$/;
const EVENT_PREFIX = "event_";
const REQUEST_PREFIX = "v-";
const REQUEST_BIT = 0x80;

/** The id of a request or event in 9 bytes. Both begin with the time, so their first bit is free to tell which. */
function groupToBytes(id: string): Uint8Array {
  const [, prefix, digits] = GROUP.exec(id) ?? [];
  if (digits === undefined) return textToBytes(id);
  const bytes = Buffer.from(digits, "hex");
  if (prefix === REQUEST_PREFIX) bytes.writeUInt8(bytes.readUInt8() | REQUEST_BIT);
  return bytes;
}

function groupFromBytes(bytes: Buffer): string {
  const first = bytes.readUInt8();
  if (first < REQUEST_BIT) return idFromBytes(EVENT_PREFIX, bytes);
  const digits = Buffer.concat([Buffer.of(first - REQUEST_BIT), bytes.subarray(1)]);
  return REQUEST_PREFIX + digits.toString("hex");
}

export type ActivityListing = {
  readonly projectId: string;
  /** A customer and their cards. */
  readonly owners: readonly string[];
  readonly conditions: readonly string[];
  /** Of `conditions`, whose parameters begin at $3. */
  readonly values: readonly unknown[];
  readonly afterId: string | undefined;
  readonly descending: boolean;
  readonly limit: number;
};

export type StoredActivity = ActivityData &
  Pick<Activity, "id" | "type" | "groupId"> & { readonly createdAt: Date };

type Row = {
  readonly id: string;
  readonly type: string;
  readonly group_id: string | null;
  readonly group_bytes: Buffer | null;
  readonly campaign_id: string | null;
  readonly campaign_type: string | null;
  readonly reward_id: string | null;
  readonly product_ids: readonly string[] | null;
  readonly data: ActivityData["data"] | null;
  readonly packed: Buffer | null;
  readonly created_at: Date;
};

/** The columns of both tables; `key` is that of the index. */
const ACTIVITIES = `
  select project_id, owner_id, id as key, '${ID_PREFIX}' || encode(id, 'hex') as id, '${TYPE_PREFIX}' || type as type,
         null as group_id, group_id as group_bytes, card_id, campaign_id, campaign_type, reward_id, product_ids,
         null::jsonb as data, data as packed, created_at
    from customer_activity`;
const EARLIER_ACTIVITIES = `
  select project_id, owner_id, id as key, id, type,
         group_id, null::bytea as group_bytes, card_id, data #>> '{campaign,id}' as campaign_id,
         data #>> '{campaign,campaign_type}' as campaign_type, data #>> '{reward,id}' as reward_id,
         ${arrayOfJson("(data #> '{order,product_ids}')")} as product_ids,
         data, null::bytea as packed, created_at
    from activity`;

/** Lists an activity once that processes of two releases have stored. */
export async function listActivities(
  db: ProjectQueryable,
  { projectId, owners, conditions, values, afterId, descending, limit }: ActivityListing,
): Promise<readonly StoredActivity[]> {
  const parameters: unknown[] = [projectId, owners, ...values];
  const packedOwners = parameters.push(owners.map(ownerToBytes));
  const direction = descending ? "desc" : "asc";
  const maximum = parameters.push(limit);
  const after = (key: string, value: unknown): readonly string[] =>
    afterId === undefined ? [] : [`${key} ${descending ? "<" : ">"} $${parameters.push(value)}`];
  const page = (source: string, owner: string, position: readonly string[]): string =>
    `(select * from (${source}) a
       where project_id = $1 and owner_id = ${owner}
         and ${["true", ...position, ...conditions].join(" and ")}
       order by key ${direction} limit $${maximum})`;
  const sources = [
    page(
      ACTIVITIES,
      "owner.packed",
      isActivityId(afterId) ? after("key", activityIdToBytes(afterId)) : after("id", afterId),
    ),
    page(EARLIER_ACTIVITIES, "owner.id", after("key", afterId)),
  ];
  const columns = `id, type, group_id, group_bytes, campaign_id, campaign_type, reward_id, product_ids, data, packed,
                   created_at`;
  const { rows } = await db.inProject(projectId).query<Row>(
    `select distinct on (found.id) found.*
       from unnest($2::text[], $${packedOwners}::bytea[]) as owner (id, packed)
      cross join lateral (${sources.map((one) => `select ${columns} from ${one} of_table`).join(" union all ")}) found
      order by found.id ${direction}
      limit $${maximum}`,
    parameters,
  );
  return rows.map(activityFromRow);
}

const activityFromRow = (row: Row): StoredActivity => ({
  id: row.id,
  type: row.type,
  groupId: row.group_bytes === null ? (row.group_id ?? "") : groupFromBytes(row.group_bytes),
  createdAt: row.created_at,
  campaignId: row.campaign_id,
  campaignType: row.campaign_type,
  rewardId: row.reward_id,
  productIds: row.product_ids,
  data:
    row.packed === null
      ? (row.data ?? {})
      : (JSON.parse(Buffer.from(unpackBytes(row.packed)).toString()) as ActivityData["data"]),
});
