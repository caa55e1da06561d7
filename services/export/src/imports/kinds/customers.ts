import { create } from "@bufbuild/protobuf";
import {
  type CreateCustomerRequest,
  CreateCustomerRequestSchema,
} from "@scrip/proto/scrip/loyalty/v1/customers_pb";

import type { Clients } from "../../clients.ts";
import { CellFault, type CsvRow } from "../csv-row.ts";
import type { ImportKind } from "../import-kind.ts";

const FIELDS = ["name", "email", "phone", "birthdate", "description"] as const;
const ADDRESS_FIELDS = {
  address_line_1: "line1",
  address_line_2: "line2",
  address_postal_code: "postalCode",
  address_city: "city",
  address_state: "state",
  address_country: "country",
} as const;

export const customers = ({ customerImports }: Clients): ImportKind<CreateCustomerRequest> => ({
  schema: CreateCustomerRequestSchema,
  noun: "customer",
  nameOf: ({ sourceId = null }) => ({ source_id: sourceId }),
  metadataOf: ({ metadata }) => ({ resource: "customer", metadata, isComplete: false }),
  send: async (items, { call }) => {
    const { outcomes } = await customerImports.importCustomers(
      { items: [...items] },
      call("import"),
    );
    return outcomes;
  },
  csv: {
    columns: ["source_id", ...FIELDS, ...Object.keys(ADDRESS_FIELDS)],
    required: ["source_id"],
    nameOfRow: (row) => ({ source_id: row.text("source_id") ?? null }),
    toItem: customerOf,
  },
});

/** Every listed field is sent, so that an empty cell clears it. */
function customerOf(row: CsvRow): CreateCustomerRequest {
  const sourceId = row.text("source_id");
  if (sourceId === undefined) throw new CellFault("Source_id: must be present");
  const listed = FIELDS.filter((field) => row.listed.has(field));
  const fields = Object.fromEntries(listed.map((field) => [field, row.text(field)]));
  const address = Object.entries(ADDRESS_FIELDS).filter(([column]) => row.listed.has(column));
  return create(CreateCustomerRequestSchema, {
    ...fields,
    sourceId,
    metadata: row.metadata("customer", "null"),
    address: Object.fromEntries(address.map(([column, field]) => [field, row.text(column)])),
    updateMask: {
      paths: [...listed, ...address.map(([column]) => column.replace("address_", "address."))],
    },
  });
}
