import { create, fromJsonString } from "@bufbuild/protobuf";
import { currentTime } from "@scrip/clock";
import type { ExportedObject } from "@scrip/exports";
import { CardTransactionDetailsSchema } from "@scrip/proto/scrip/voucher/v1/transactions_pb";
import { batchCall, type Call, orIfUnimplemented } from "@scrip/rpc";

import type { Clients } from "../clients.ts";
import { queryChunksOf } from "../query-chunks.ts";
import { encode } from "../webhooks/resource-data.ts";
import type { CardReader, OwnerRow } from "./card-balances.ts";
import type { ExportPlan } from "./parameters.ts";

/** Where fields of other services are looked up. */
export type LookupSources = Clients & { readonly cardReader: CardReader };

/** A field that another service than the owner of the rows knows. */
export type ForeignField = {
  /** Fields of the owner that the lookup needs. */
  readonly needs: readonly string[];
  /** Whether the lookup reads points of loyalty cards, which are those of one snapshot. */
  readonly readsCards?: boolean;
  /** The values of some rows, in their order; null is an empty cell. */
  readonly lookUp: (
    sources: LookupSources,
    rows: readonly OwnerRow[],
    call: Call,
  ) => Promise<readonly (string | null)[]>;
};

const FOREIGN: Readonly<Partial<Record<ExportedObject, Readonly<Record<string, ForeignField>>>>> = {
  voucher: {
    category: {
      needs: ["category"],
      async lookUp({ categories }, rows, call) {
        const ids = distinct(rows, "category");
        const { results } = await categories.resolveCategories(
          { queries: ids.map((id) => ({ projectId: call.project.id, id })) },
          batchOf(call),
        );
        const names = new Map(ids.map((id, at) => [id, results[at]?.category?.name ?? null]));
        return rows.map((row) => names.get(row["category"] ?? "") ?? null);
      },
    },
    customer_source_id: {
      needs: ["customer_id"],
      async lookUp({ customers }, rows, call) {
        const ids = distinct(rows, "customer_id");
        const { results } = await customers.resolveCustomers(
          { queries: ids.map((id) => ({ projectId: call.project.id, customer: { id } })) },
          batchOf(call),
        );
        const sources = new Map(ids.map((id, at) => [id, results[at]?.customer?.sourceId ?? null]));
        return rows.map((row) => sources.get(row["customer_id"] ?? "") ?? null);
      },
    },
    loyalty_balance: {
      needs: ["id", "voucher_type", "value"],
      readsCards: true,
      async lookUp({ cardReader }, rows, call) {
        const balances = await cardReader.balancesOf(rows, batchOf(call));
        return rows.map(({ id = "" }) => balances.get(id)?.balance.toString() ?? null);
      },
    },
    validation_rules_id: {
      needs: ["id"],
      async lookUp({ rules }, rows, call) {
        const queries = queryChunksOf(rows.map(({ id = "" }) => id)).map((relatedObjectIds) => ({
          projectId: call.project.id,
          relatedObjectIds,
        }));
        const { results } = await rules.resolveAssignments({ queries }, batchOf(call));
        const byObject = new Map<string, string[]>();
        for (const { relatedObjectId, ruleId } of results.flatMap((one) => one.assignments)) {
          const known = byObject.get(relatedObjectId);
          if (known === undefined) byObject.set(relatedObjectId, [ruleId]);
          else known.push(ruleId);
        }
        return rows.map(({ id = "" }) => {
          const assigned = byObject.get(id);
          return assigned === undefined ? null : JSON.stringify(assigned);
        });
      },
    },
  },
  customer: {
    loyalty_points: {
      needs: ["id"],
      async lookUp({ holdings }, rows, call) {
        const queries = rows.map(({ id = "" }) => ({ projectId: call.project.id, customerId: id }));
        const { results } = await holdings.summarizeHoldings({ queries }, batchOf(call));
        return results.map(({ campaigns }) =>
          String(campaigns.reduce((sum, { points }) => sum + points, 0n)),
        );
      },
    },
  },
};

const NONE: ReadonlyMap<string, ForeignField> = new Map();

/** The voucher service has the initial points of a loyalty card only. */
const VALUE_OF_VOUCHER: ForeignField = {
  needs: ["id", "voucher_type", "value"],
  readsCards: true,
  async lookUp({ cardReader }, rows, call) {
    const points = await cardReader.balancesOf(rows, batchOf(call));
    return rows.map(({ id = "", value = "" }) => {
      const current = points.get(id);
      return current === undefined ? value || null : `${current.points}`;
    });
  },
};

/** A ledger does not have what listings show of the redemption. Filters compare what it has. */
const DETAILS_OF_TRANSACTION: ForeignField = {
  needs: ["details", "source"],
  async lookUp({ transactions }, rows, call) {
    const known = rows.map(({ details = "{}" }) =>
      fromJsonString(CardTransactionDetailsSchema, details, { ignoreUnknownFields: true }),
    );
    const { results } = await transactions.resolveTransactionDetails(
      {
        transactions: known.map(({ redemption, rollback }, at) => ({
          projectId: call.project.id,
          redemptionId: redemption?.id,
          rollbackId: rollback?.id,
          source: rows[at]?.["source"],
        })),
      },
      batchOf(call),
    );
    return known.map((details, at) => {
      const { operationType = "", order = details.order, reward } = results[at] ?? {};
      const balance = details.balance && { ...details.balance, operationType };
      const full = create(CardTransactionDetailsSchema, { ...details, balance, order, reward });
      return encode(CardTransactionDetailsSchema, full);
    });
  },
};

/** The fields of an object that are looked up in other services than the owner of its rows. */
export function foreignFields(object: ExportedObject): ReadonlyMap<string, ForeignField> {
  const fields = FOREIGN[object];
  return fields === undefined ? NONE : new Map(Object.entries(fields));
}

/** The fields to look up for a file: also `value` of vouchers in a project where any card has changed. */
export async function lookedUpFields(
  { cards }: Clients,
  { object, fields, filters }: Pick<ExportPlan, "object" | "fields" | "filters">,
  call: Call,
): Promise<ReadonlyMap<string, ForeignField>> {
  const foreign = foreignFields(object);
  if (object === "voucher_transactions") {
    return new Map([...foreign, ["details", DETAILS_OF_TRANSACTION]]);
  }
  const usesValue = fields.includes("value") || Object.hasOwn(filters, "value");
  if (object !== "voucher" || !usesValue) return foreign;
  const hasChanged = await hasChangedCards(cards, call);
  return hasChanged ? new Map([...foreign, ["value", VALUE_OF_VOUCHER]]) : foreign;
}

/** A loyalty service that cannot tell has its cards looked up. */
async function hasChangedCards(cards: Clients["cards"], call: Call): Promise<boolean> {
  const response = cards.hasChangedCards({}, { ...call, idempotency: undefined });
  return (await orIfUnimplemented(response, { hasChanged: true })).hasChanged;
}

const batchOf = ({ requestId, now }: Call): Call =>
  batchCall(requestId, currentTime() + LOOKUP_MS, now);

const LOOKUP_MS = 8_000;

const distinct = (rows: readonly OwnerRow[], field: string): readonly string[] => [
  ...new Set(rows.map((row) => row[field] ?? "").filter((value) => value !== "")),
];
