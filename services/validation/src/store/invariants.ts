import { fromBinary } from "@bufbuild/protobuf";
import {
  type Chunk,
  type ChunkRequest,
  type InvariantCheck,
  listProjectsIn,
  type Queryable,
  unpackBytes,
  type Violation,
} from "@scrip/postgres";
import { type Order, OrderSchema } from "@scrip/proto/scrip/common/v1/order_pb";
import { parseValidationRule } from "@scrip/rules";

import { ruleDefinitionFromRow } from "./rule-definition.ts";
import type { RuleContent } from "./validation-rules.ts";

/** All projects with orders or rules, including those that the gateway has deleted. */
export async function listValidationProjects(db: Queryable): Promise<readonly string[]> {
  const [orders, rules] = await Promise.all(
    ["shop_order", "validation_rule"].map((table) => listProjectsIn(db, table)),
  );
  return [...new Set([...(orders ?? []), ...(rules ?? [])])].toSorted();
}

export const validationInvariants: readonly InvariantCheck[] = [
  {
    name: "Orders",
    states: "the figures of an order and its items add up, and no total is negative",
    checkChunk: checkOrders,
  },
  {
    name: "Validation rules",
    states: "a rule that is stored can be read by this version",
    checkChunk: checkRules,
  },
];

async function checkOrders(db: Queryable, request: ChunkRequest): Promise<Chunk> {
  const { rows } = await db.query<{ id: string; document: Uint8Array | null }>(
    `select id, document from shop_order
      where project_id = $1 and id > $2
      order by id
      limit $3`,
    [request.projectId, request.after, request.limit],
  );
  const last = rows.at(-1)?.id ?? null;
  return {
    checked: rows.length,
    last: rows.length < request.limit ? null : last,
    violations: rows.flatMap(({ id, document }) =>
      // A row without a document is a claim, not an order.
      document === null ? [] : faultsOf(id, fromBinary(OrderSchema, unpackBytes(document))),
    ),
  };
}

function faultsOf(id: string, order: Order): Violation[] {
  const { items } = order;
  const sums: readonly (readonly [string, bigint, bigint])[] = [
    [
      "total_discount_amount",
      order.totalDiscountAmount,
      order.discountAmount + order.itemsDiscountAmount,
    ],
    ["total_amount", order.totalAmount, order.amount - order.totalDiscountAmount],
    [
      "total_applied_discount_amount",
      order.totalAppliedDiscountAmount,
      order.appliedDiscountAmount + order.itemsAppliedDiscountAmount,
    ],
    [
      "items_discount_amount",
      order.itemsDiscountAmount,
      items.reduce((sum, { discountAmount }) => sum + discountAmount, 0n),
    ],
    ...items.map(
      (item, index) =>
        [
          `items[${index}].subtotal_amount`,
          item.subtotalAmount,
          item.amount - item.discountAmount,
        ] as const,
    ),
  ];
  const wrong = sums.filter(([, has, should]) => has !== should);
  const negative =
    order.totalAmount < 0n || items.some(({ subtotalAmount }) => subtotalAmount < 0n);
  return [
    ...wrong.map(([name, has, should]) => ({
      subject: id,
      details: `${name} is ${has}, its parts make ${should}`,
    })),
    ...(order.id === id ? [] : [{ subject: id, details: `its document is order ${order.id}` }]),
    ...(negative ? [{ subject: id, details: "a total is negative" }] : []),
  ];
}

/** A rule that cannot be parsed makes every decision fail that depends on it. */
async function checkRules(db: Queryable, request: ChunkRequest): Promise<Chunk> {
  const { rows } = await db.query<RuleContent & { id: string }>(
    `select id, rules, bundle_rules, applicable_to, error_message
       from validation_rule
      where project_id = $1 and id > $2
      order by id
      limit $3`,
    [request.projectId, request.after, request.limit],
  );
  return {
    checked: rows.length,
    last: rows.length < request.limit ? null : (rows.at(-1)?.id ?? null),
    violations: rows.flatMap((row): Violation[] => {
      const parsed = parseValidationRule(ruleDefinitionFromRow(row.id, row));
      return parsed.kind === "rule" ? [] : [{ subject: row.id, details: parsed.text }];
    }),
  };
}
