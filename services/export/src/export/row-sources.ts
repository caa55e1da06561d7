import type { JsonObject as ProtoJson } from "@bufbuild/protobuf";
import { invalidPayload } from "@scrip/errors";
import type { ExportedObject } from "@scrip/exports";
import type {
  ExportRowsRequest,
  ExportRowsResponse,
} from "@scrip/proto/scrip/common/v1/export_rows_pb";
import type { Call } from "@scrip/rpc";

import type { Clients } from "../clients.ts";
import { foreignFields } from "./foreign-fields.ts";
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
  { object, order, filters, campaignId, voucherId }: ExportInput,
  fields: readonly string[],
  { validateOnly = false } = {},
): Parameters<RowOwner>[0] => ({
  exportedObject: object,
  fields: [...fields],
  order,
  filters: filters as ProtoJson,
  validateOnly,
  ...(campaignId !== null && { campaignId }),
  ...(voucherId !== null && { voucherId }),
});

/** Rejects filters that the owners cannot evaluate. */
export async function validateFilters(
  owners: readonly RowOwner[],
  input: ExportInput,
  call: Call,
): Promise<void> {
  const foreign = foreignFields(input.object);
  const unsupported = Object.keys(input.filters).filter((name) => foreign.has(name));
  if (unsupported.length > 0) {
    throw invalidPayload(`Filters cannot use the fields ${unsupported.join(", ")} in exports`);
  }
  const own = input.fields.filter((field) => !foreign.has(field));
  for (const owner of owners) {
    const rows = owner(rowsRequest(input, own, { validateOnly: true }), {
      ...call,
      idempotency: undefined,
    });
    for await (const _ of rows);
  }
}
