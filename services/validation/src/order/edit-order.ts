import { create } from "@bufbuild/protobuf";
import { duplicate, notFound, ApiError } from "@scrip/errors";
import { enqueue } from "@scrip/events";
import type { Queryable } from "@scrip/postgres";
import type { Customer } from "@scrip/proto/scrip/common/v1/customer_pb";
import {
  type Order,
  type OrderInput,
  type OrderItemInput,
  OrderInputSchema,
  OrderStatus,
} from "@scrip/proto/scrip/common/v1/order_pb";
import type {
  CreateOrderRequest,
  UpdateOrderRequest,
} from "@scrip/proto/scrip/validation/v1/orders_pb";
import { type Call, neededOriginOf } from "@scrip/rpc";

import { overridingLines, upsertOverrides } from "../catalogue/catalogue-overrides.ts";
import type { Deps } from "../deps.ts";
import type { LineSnapshot } from "../domain/input/order.ts";
import type { OrderFigures } from "../domain/order/order-figures.ts";
import { lineAmount } from "../domain/order/order-state.ts";
import { storedOrderFigures } from "../domain/order/stored-order-figures.ts";
import { changesSummary, isCancellation, orderEdited } from "../events/order-edited.ts";
import { publishOrder } from "../events/publish-order.ts";
import { addCatalogueData } from "../loading/catalogue.ts";
import { loadAllCollectionsOfLines } from "../loading/collections.ts";
import { requireIdentity } from "../loading/customer.ts";
import { matchStoredItems } from "../mapping/match-stored-items.ts";
import { lineFromStored, sentLine } from "../mapping/order-input.ts";
import { orderToProto } from "../mapping/order.ts";
import { storedOrder, withItemCollections } from "../mapping/redeemed-order.ts";
import { saveImportedOrders, saveOrders, setSourceId, wasPaid } from "../store/orders.ts";
import { type OrderClaim, claimEditedOrder } from "./order-claim.ts";

type OrderRequest = CreateOrderRequest | UpdateOrderRequest;

export type OrderEdit = {
  readonly orderKey: Pick<OrderInput, "id" | "sourceId">;
  readonly request: OrderRequest;
  /** Imports publish neither that the order is paid nor its change. */
  readonly isImport?: boolean;
};

/**
 * Creates or updates an order under its claim, so that an edit and a redemption never interleave
 * (services/decisions/0006-order-claims.md).
 */
export async function editOrder(deps: Deps, call: Call, edit: OrderEdit): Promise<Order> {
  const { orderKey } = edit;
  requireIdentity(edit.request.customer, ".customer");
  requireIdentity(edit.request.referrer, ".referrer");
  const { items, lines } = await addCatalogueData(deps, call, edit.request.items);
  const request = { ...edit.request, items };
  const [customerId, referrerId, collections] = await Promise.all([
    idOf(deps, call, request.customer ?? byId(request.customerId)),
    idOf(deps, call, request.referrer ?? byId(request.referrerId)),
    loadAllCollectionsOfLines(deps, call, lines),
  ]);
  const claim = await claimEditedOrder(deps, call, create(OrderInputSchema, { ...orderKey }));
  const { now } = claim;
  let isSaved = false;
  try {
    const order = storedOrder(updatedOrder(request, claim.stored), {
      id: claim.id,
      stored: claim.stored,
      status: request.status || claim.stored?.status || OrderStatus.CREATED,
      customerId,
      referrerId,
      now,
      newItemId: () => deps.newId("ordli"),
    });
    const { createdAt = order.createdAt } = request;
    const dated = {
      ...withItemCollections(order, collections),
      ...(createdAt !== undefined && { createdAt }),
    };
    const saved = await save(deps, { ...call, now }, dated, {
      ...edit,
      claim,
      items: edit.request.items,
    });
    isSaved = true;
    return saved;
  } finally {
    await claim.end(isSaved ? "committed" : "none");
  }
}

/** Saves the order, its catalogue overrides and its events in one transaction; returns the order as it is stored. */
async function save(
  deps: Deps,
  call: Call,
  order: Order,
  {
    claim,
    items,
    isImport = false,
  }: Pick<OrderEdit, "isImport"> & {
    readonly claim: OrderClaim;
    readonly items: readonly OrderItemInput[];
  },
): Promise<Order> {
  const projectId = call.project.id;
  const { sourceId } = order;
  let saved = order;
  const renamed = claim.stored !== null && sourceId !== claim.stored.sourceId;
  const lines = overridingLines(call, items);
  await upsertOverrides(deps, { projectId, now: call.now, lines }, async (tx, withCatalogueIds) => {
    saved = withCatalogueIds(order);
    if (renamed && sourceId !== undefined) {
      const free = await setSourceId(tx, { projectId, id: claim.id, sourceId });
      if (!free) throw duplicate("order", "id", sourceId);
    }
    const origin = neededOriginOf(call);
    const row = { projectId, order: saved, at: new Date(call.now), origin };
    await (isImport ? saveImportedOrders(tx, [row]) : saveOrders(tx, [row]));
    const edit = { before: claim.stored, order: saved };
    const cancelsPaidOrder = await cancelsOrderWithPoints(tx, call, edit);
    if (changesSummary(edit) || cancelsPaidOrder) {
      const edited = { projectId, order: saved, at: call.now, cancelsPaidOrder };
      await enqueue(tx, [orderEdited(deps.newId("event"), edited)], call);
    }
    if (!isImport) await publishOrder(tx, call, edit);
  });
  deps.onEvents();
  return saved;
}

/** Whether the edit cancels an order that may have pending points, in a project that cancels them with the order. */
const cancelsOrderWithPoints = async (
  tx: Queryable,
  { project }: Call,
  edit: { readonly before: Order | null; readonly order: Order },
): Promise<boolean> =>
  project.cancelPendingPointsOnOrderCancel === true &&
  isCancellation(edit) &&
  wasPaid(tx, { projectId: project.id, id: edit.order.id ?? "" });

const byId = (id: string | undefined): Pick<Customer, "id"> | undefined =>
  id === undefined || id === "" ? undefined : { id };

/** Id of the customer, who is created if the source id is new. */
async function idOf(
  deps: Deps,
  call: Call,
  customer: Partial<Customer> | undefined,
): Promise<string | undefined> {
  if (customer === undefined) return undefined;
  const named = { ...customer, $typeName: "scrip.common.v1.Customer" as const };
  const result = await deps.clients.upsertCustomer(named, call);
  if (result.customer === undefined) throw notFound("customer", customer.id ?? "");
  return result.customer.id;
}

/** The stored order with the sent fields on top. Errors name the order by its path in the request. */
export function updatedOrder(request: OrderRequest, stored: Order | null, path = ""): Order {
  const updatedFields = new Set(request.updateMask?.paths);
  const replaced = updatedFields.has("items") || request.items.length > 0;
  const base = stored === null || !replaced ? stored : { ...stored, items: [] };
  const input = create(OrderInputSchema, {
    items: request.items,
    metadata: { ...stored?.metadata, ...request.metadata },
    ...(request.sourceId !== undefined && { sourceId: request.sourceId }),
  });
  const isRecalculated =
    replaced ||
    [request.amount, request.initialAmount, request.discountAmount].some(
      (amount) => amount !== undefined,
    );
  if (stored !== null && !isRecalculated) {
    const sourceId = request.sourceId ?? stored.sourceId;
    return {
      ...stored,
      metadata: input.metadata ?? {},
      ...(sourceId !== undefined && { sourceId }),
    };
  }
  const figures = figuresOf(request, { stored, base, path });
  return orderToProto(figures, input, request.items.length > 0 ? stored : base);
}

type Figuring = {
  readonly stored: Order | null;
  /** The stored order, without its items if the request replaces them. */
  readonly base: Order | null;
  readonly path: string;
};

function figuresOf(request: OrderRequest, { stored, base, path }: Figuring): OrderFigures {
  const kept = matchStoredItems(request.items, stored?.items ?? []);
  const lines =
    request.items.length > 0
      ? request.items.map((item, index) => ({
          ...sentLine(item, kept[index]),
          discountAmount: item.discountAmount ?? 0n,
        }))
      : (base?.items ?? []).map((item) =>
          // An amount of zero without a price means that neither was ever set.
          item.price === undefined && item.amount === 0n
            ? { ...lineFromStored(item), amount: null }
            : lineFromStored(item),
        );
  const outcome = storedOrderFigures({
    amount: request.amount ?? base?.amount ?? null,
    initialAmount: request.initialAmount ?? initialAmountOf(request, base, lines),
    discountAmount: request.discountAmount ?? base?.discountAmount ?? 0n,
    lines,
  });
  if (outcome.kind === "figures") return outcome.figures;
  const { key, details } = outcome.rejection;
  throw new ApiError(key, { details: details?.replace("Property .order.", `Property ${path}.`) });
}

/** The amount before discounts added units; null: the amount of the updated order. */
function initialAmountOf(
  request: OrderRequest,
  base: Order | null,
  lines: readonly LineSnapshot[],
): bigint | null {
  if (request.items.length > 0) {
    const addedAmounts = lines.map(({ initialAmount, amount }) =>
      initialAmount === null || amount === null ? 0n : amount - initialAmount,
    );
    if (addedAmounts.every((added) => added === 0n)) return null;
    const amount = amountOfLines(lines);
    return amount === null ? null : amount - addedAmounts.reduce((sum, added) => sum + added);
  }
  const isWorthTheSame = request.amount === undefined || amountOfLines(lines) === base?.amount;
  return isWorthTheSame ? (base?.initialAmount ?? null) : null;
}

/** The amount of an order with these lines, which overrides a sent one; null if no line has an amount. */
function amountOfLines(lines: readonly LineSnapshot[]): bigint | null {
  const amounts = lines.map(lineAmount).filter((amount) => amount !== null);
  return amounts.length === 0 ? null : amounts.reduce((sum, amount) => sum + amount);
}
