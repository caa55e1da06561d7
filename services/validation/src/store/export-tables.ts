import { fromBinary } from "@bufbuild/protobuf";
import type { ExportColumn, ExportTable, ExportTables } from "@scrip/exports";
import { unpackBytes } from "@scrip/postgres";
import { type Order, OrderSchema } from "@scrip/proto/scrip/common/v1/order_pb";

const ofOrder = (read: (order: Order) => unknown): ExportColumn => ({
  sql: "o.document",
  decode: (raw) => read(fromBinary(OrderSchema, unpackBytes(raw as Uint8Array))),
});

const ORDERS: ExportTable = {
  from: "from shop_order o where o.project_id = $1 and o.document is not null",
  id: "o.id",
  columns: {
    id: { sql: "o.id" },
    source_id: { sql: "o.source_id" },
    created_at: { sql: "o.created_at" },
    updated_at: { sql: "o.updated_at" },
    status: { sql: "o.status" },
    amount: ofOrder(({ amount }) => amount),
    discount_amount: ofOrder(({ discountAmount }) => discountAmount),
    items_discount_amount: ofOrder(({ itemsDiscountAmount }) => itemsDiscountAmount),
    total_discount_amount: ofOrder(({ totalDiscountAmount }) => totalDiscountAmount),
    total_amount: ofOrder(({ totalAmount }) => totalAmount),
    customer_id: { sql: "o.customer_id" },
    referrer_id: ofOrder(({ referrerId }) => referrerId),
    metadata: ofOrder(({ metadata }) => metadata ?? {}),
  },
};

const PRODUCTS: ExportTable = {
  from: "from product p where p.project_id = $1",
  id: "p.id",
  columns: {
    id: { sql: "p.id" },
    name: { sql: "p.name" },
    price: { sql: "p.price" },
    image_url: { sql: "p.image_url" },
    source_id: { sql: "p.source_id" },
    attributes: { sql: "p.attributes" },
    created_at: { sql: "p.created_at" },
    updated_at: { sql: "p.updated_at" },
    metadata: { sql: "p.metadata" },
  },
};

const SKUS: ExportTable = {
  from: "from sku s where s.project_id = $1",
  id: "s.id",
  columns: {
    id: { sql: "s.id" },
    sku: { sql: "s.sku" },
    price: { sql: "s.price" },
    image_url: { sql: "s.image_url" },
    source_id: { sql: "s.source_id" },
    attributes: { sql: "s.attributes" },
    created_at: { sql: "s.created_at" },
    product_id: { sql: "s.product_id" },
    currency: { sql: "s.currency" },
    updated_at: { sql: "s.updated_at" },
    metadata: { sql: "s.metadata" },
  },
};

export const EXPORT_TABLES: ExportTables = { order: ORDERS, product: PRODUCTS, sku: SKUS };
