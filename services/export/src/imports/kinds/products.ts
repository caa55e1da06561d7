import { create } from "@bufbuild/protobuf";
import {
  type CreateProductRequest,
  CreateProductRequestSchema,
  type CreateSkuRequest,
  CreateSkuRequestSchema,
} from "@scrip/proto/scrip/validation/v1/products_pb";

import type { Clients } from "../../clients.ts";
import { CellFault, type CsvRow } from "../csv-row.ts";
import type { ImportKind } from "../import-kind.ts";

const PRODUCT_FIELDS = ["name", "price", "attributes", "image_url"] as const;
const SKU_FIELDS = ["sku", "price", "image_url", "attributes"] as const;

export const products = ({ catalogueImports }: Clients): ImportKind<CreateProductRequest> => ({
  schema: CreateProductRequestSchema,
  noun: "product",
  nameOf: ({ sourceId = null }) => ({ source_id: sourceId }),
  metadataOf: ({ metadata }) => ({ resource: "product", metadata, isComplete: false }),
  send: async (items, { call }) => {
    const { outcomes } = await catalogueImports.importProducts(
      { items: [...items] },
      call("import"),
    );
    return outcomes;
  },
  csv: {
    columns: ["source_id", ...PRODUCT_FIELDS],
    required: ["name"],
    nameOfRow,
    toItem: (row) => {
      const name = row.text("name");
      if (name === undefined) throw new CellFault("name: must be present");
      return create(CreateProductRequestSchema, {
        name,
        sourceId: row.text("source_id"),
        price: row.integer("price"),
        attributes: listOf(row.text("attributes")),
        imageUrl: row.text("image_url"),
        metadata: row.metadata("product"),
        updateMask: { paths: PRODUCT_FIELDS.filter((field) => row.listed.has(field)) },
      });
    },
  },
});

export const skus = ({ catalogueImports }: Clients): ImportKind<CreateSkuRequest> => ({
  schema: CreateSkuRequestSchema,
  noun: "sku",
  nameOf: ({ sourceId = null }) => ({ source_id: sourceId }),
  // SKUs have the schema of products.
  metadataOf: ({ metadata }) => ({ resource: "product", metadata, isComplete: false }),
  send: async (items, { call }) => {
    const { outcomes } = await catalogueImports.importSkus({ items: [...items] }, call("import"));
    return outcomes;
  },
  csv: {
    columns: ["source_id", "product_id", ...SKU_FIELDS],
    required: ["source_id", "product_id"],
    nameOfRow,
    toItem: (row) => {
      const [sourceId, productId] = [row.text("source_id"), row.text("product_id")];
      if (sourceId === undefined) throw new CellFault("source_id: must be present");
      if (productId === undefined) throw new CellFault("product_id: must be present");
      return create(CreateSkuRequestSchema, {
        sourceId,
        productId,
        sku: row.text("sku"),
        price: row.integer("price"),
        imageUrl: row.text("image_url"),
        attributes: attributesOf(row),
        metadata: row.metadata("product"),
        updateMask: { paths: SKU_FIELDS.filter((field) => row.listed.has(field)) },
      });
    },
  },
});

const nameOfRow = (row: CsvRow) => ({ source_id: row.text("source_id") ?? null });

const listOf = (text: string | undefined): string[] =>
  (text ?? "")
    .split(",")
    .map((each) => each.trim())
    .filter((each) => each !== "");

/** Values of attributes: a JSON object, as exports write it, or `color=red,size=M`. */
function attributesOf(row: CsvRow) {
  const text = row.text("attributes");
  if (text === undefined) return undefined;
  if (!text.trim().startsWith("{")) {
    const pairs = listOf(text).map((pair) => pair.split("=", 2));
    if (pairs.some(([name, value]) => !name || value === undefined)) {
      throw row.fault("attributes", "a JSON object or name=value pairs");
    }
    return Object.fromEntries(pairs.map(([name = "", value = ""]) => [name.trim(), value.trim()]));
  }
  try {
    return JSON.parse(text) as Record<string, string>;
  } catch {
    throw row.fault("attributes", "a JSON object or name=value pairs");
  }
}
