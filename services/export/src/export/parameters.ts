import { ApiError } from "@scrip/errors";
import { type ExportedObject, metadataKey, specOf } from "@scrip/exports";

import type { JsonObject, JsonValue } from "../domain/job.ts";

/** What a request says about a file. */
export type ParametersInput = {
  readonly order?: string | undefined;
  readonly fields?: readonly string[] | undefined;
  readonly filters?: JsonObject | undefined;
};

/** What a file contains, with all defaults. */
export type ExportPlan = {
  readonly object: ExportedObject;
  readonly fields: readonly string[];
  readonly order: string;
  readonly filters: JsonObject;
};

/** The input of the job that writes the file. */
export type ExportInput = ExportPlan & {
  readonly campaignId: string | null;
  readonly voucherId: string | null;
  /** Which transactions; null: all. */
  readonly balance: "gift" | "loyalty" | null;
};

/** Completes and checks the fields and the order; the owner of the rows checks the filters. */
export function planExport(
  object: ExportedObject,
  { order, fields = [], filters = {} }: ParametersInput,
): ExportPlan {
  const spec = specOf(object);
  const unknown = fields.filter(
    (field) => !Object.hasOwn(spec.fields, field) && metadataKey(spec, field) === undefined,
  );
  if (unknown.length > 0) throw invalidFields("field", Object.keys(spec.fields));
  if (order !== undefined && !spec.orders.includes(order.replace(/^-/, ""))) {
    throw invalidFields("order", spec.orders);
  }
  return {
    object,
    fields: fields.length === 0 ? spec.defaults : fields,
    order: order ?? spec.defaultOrder,
    filters,
  };
}

const invalidFields = (what: "field" | "order", allowed: readonly string[]): ApiError =>
  new ApiError("invalid_export_fields", {
    details: `Unsupported ${what} used. Allowed ${what === "field" ? "fields" : "orders"}: ${allowed.join(", ")}`,
  });

/** Rows of one campaign or one voucher only. */
export type ExportScope = {
  readonly campaignId?: string | undefined;
  readonly voucherId?: string | undefined;
};

/** The parameters as the API shows them: of a scope, the filters name it instead of what was sent. */
export function shownParameters(
  { fields, filters }: ExportPlan,
  order: string | undefined,
  { campaignId, voucherId }: ExportScope,
): JsonObject {
  const scoped = campaignId !== undefined || voucherId !== undefined;
  return {
    ...(order !== undefined && { order }),
    fields,
    ...((scoped || Object.keys(filters).length > 0) && {
      filters: {
        ...(scoped && { junction: "AND" }),
        ...filters,
        ...(campaignId !== undefined && { campaign_id: only(campaignId) }),
        ...(voucherId !== undefined && { voucher_id: only(voucherId) }),
      },
    }),
  };
}

const only = (id: string): JsonValue => ({ conditions: { $in: [id] } });

/** The filters for the owner of the rows: a scope is no filter, which `or` could widen. */
export function ownFilters(
  filters: JsonObject,
  { campaignId, voucherId }: ExportScope,
): JsonObject {
  const replaced = new Set([
    ...(campaignId === undefined ? [] : ["campaign_id"]),
    ...(voucherId === undefined ? [] : ["voucher_id"]),
  ]);
  return Object.fromEntries(Object.entries(filters).filter(([name]) => !replaced.has(name)));
}
