import type { MetadataValue } from "../../formula/value.ts";
import { isObject } from "../../formula/value.ts";
import type { ItemObject, ItemRef } from "../model/item-ref.ts";
import type { Violation } from "./violation.ts";

const MAX_ID = 255;

/** Parses `{id, type, object, source_id}`, or an id alone with the object type `assumed`. */
export function parseItems(
  operands: readonly MetadataValue[],
  assumed: ItemObject | null,
  violation: (text: string) => Violation,
): readonly ItemRef[] {
  return operands.map((operand) => {
    const item = parseItem(operand, assumed);
    if (item === null) throw violation("needs items with an 'id' or 'source_id'");
    return item;
  });
}

function parseItem(operand: MetadataValue, assumed: ItemObject | null): ItemRef | null {
  if (typeof operand === "string") return refOf({ id: textOf(operand) }, assumed);
  if (!isObject(operand)) return null;
  const [id, sourceId, object, type] = ["id", "source_id", "object", "type"].map((key) =>
    textOf(operand[key] ?? null),
  );
  return refOf({ id, sourceId, object, type }, assumed);
}

const textOf = (value: MetadataValue): string | undefined =>
  typeof value === "string" && value !== "" && value.length <= MAX_ID ? value : undefined;

type SentItem = {
  readonly id?: string | undefined;
  readonly sourceId?: string | undefined;
  readonly object?: string | undefined;
  readonly type?: string | undefined;
};

/**
 * Without an object type, the prefix of the id determines it; otherwise product and SKU both match.
 */
function refOf(sent: SentItem, assumed: ItemObject | null): ItemRef | null {
  const { id = null, sourceId = null } = sent;
  if (id === null && sourceId === null) return null;
  const object =
    itemObjectOf(sent.object) ?? itemObjectOf(sent.type) ?? assumed ?? objectByPrefix(id);
  if (object !== null) return { object, id, sourceId, type: sent.type ?? null };
  const isKnownType = sent.type === undefined || sent.type === "product_or_sku";
  if (!isKnownType || sent.object !== undefined) return null;
  return { object: "product", id, sourceId, type: "product_or_sku" };
}

/** Both spellings of a collection are valid. */
export function itemObjectOf(object: string | undefined): ItemObject | null {
  switch (object) {
    case "product":
    case "sku":
    case "products_collection":
      return object;
    case "product_collection":
    case "collection":
      return "products_collection";
    default:
      return null;
  }
}

function objectByPrefix(id: string | null): ItemObject | null {
  if (id === null) return null;
  if (id.startsWith("prod_")) return "product";
  if (id.startsWith("sku_")) return "sku";
  return id.startsWith("pc_") ? "products_collection" : null;
}
