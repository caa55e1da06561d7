import type { JsonObject as ProtoJson } from "@bufbuild/protobuf";
import type { ExportedObject } from "@scrip/exports";
import type {
  ExportRowsRequest,
  ExportRowsResponse,
} from "@scrip/proto/scrip/common/v1/export_rows_pb";
import type { Call } from "@scrip/rpc";

import type { Clients } from "../clients.ts";
import { foreignFields } from "./foreign-fields.ts";
import { splitFilters, type SplitFilters } from "./foreign-filters.ts";
import type { ExportInput } from "./parameters.ts";

/** A service that owns rows of an export. */
export type RowOwner = (
  request: Omit<ExportRowsRequest, "$typeName" | "$unknown">,
  call: Call,
) => AsyncIterable<ExportRowsResponse>;

const OWNERS: Readonly<Record<ExportedObject, readonly (keyof Clients["rows"])[]>> = {
  order: ["validation"],
  voucher: ["voucher"],
  publication: ["voucher"],
  redemption: ["voucher"],
  customer: ["loyalty"],
  points_expiration: ["loyalty"],
  voucher_transactions: ["voucher", "loyalty"],
  product: ["validation"],
  sku: ["validation"],
};

/** The services that own the rows: transactions of gift cards and of loyalty cards have different ones. */
export const ownersOf = (
  { rows }: Pick<Clients, "rows">,
  { object, balance }: Pick<ExportInput, "object" | "balance">,
): readonly RowOwner[] =>
  OWNERS[object]
    .filter((owner) => balance === null || owner === (balance === "gift" ? "voucher" : "loyalty"))
    .map((owner) => rows[owner].exportRows);

export const rowsRequest = (
  { object, order, campaignId, voucherId }: ExportInput,
  { own, marks }: Pick<SplitFilters, "own" | "marks">,
  {
    fields,
    validateOnly = false,
  }: { readonly fields: readonly string[]; readonly validateOnly?: boolean },
): Parameters<RowOwner>[0] => ({
  exportedObject: object,
  fields: [...fields],
  order,
  filters: own as ProtoJson,
  validateOnly,
  marksMatches: marks,
  ...(campaignId !== null && { campaignId }),
  ...(voucherId !== null && { voucherId }),
});

/** Rejects filters that cannot be evaluated. */
export async function validateFilters(
  owners: readonly RowOwner[],
  input: ExportInput,
  call: Call,
): Promise<void> {
  const foreign = foreignFields(input.object);
  const filters = splitFilters(input, foreign);
  const fields = input.fields.filter((field) => !foreign.has(field));
  for (const owner of owners) {
    const rows = owner(rowsRequest(input, filters, { fields, validateOnly: true }), {
      ...call,
      idempotency: undefined,
    });
    for await (const _ of rows);
  }
}
