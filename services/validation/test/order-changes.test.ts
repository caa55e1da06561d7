import { type DescMessage, fromBinary, type MessageShape } from "@bufbuild/protobuf";
import { OrderStatus } from "@scrip/proto/scrip/common/v1/order_pb";
import { OrderEditedSchema } from "@scrip/proto/scrip/events/v1/orders_pb";
import { ResourceChangedSchema } from "@scrip/proto/scrip/events/v1/resources_pb";
import { asAdmin } from "@scrip/testing";
import { afterAll, expect, test } from "vitest";

import { ORDER_NAMES } from "../src/events/publish-order.ts";
import { newProject, startServices } from "./deps.ts";

const services = await startServices();
afterAll(() => services[Symbol.asyncDispose]());
const { orders, imports } = services;

const { CREATED, PAID, CANCELED, FULFILLED } = OrderStatus;

/** The published events of a type, oldest first. */
async function eventsIn<Schema extends DescMessage>(
  projectId: string,
  schema: Schema,
): Promise<readonly MessageShape<Schema>[]> {
  const { rows } = await asAdmin(services.databaseUrl, (client) =>
    client.query<{ payload: Uint8Array }>(
      "select payload from validation.outbox where project_id = $1 and type = $2 order by id",
      [projectId, schema.typeName],
    ),
  );
  return rows.map(({ payload }) => fromBinary(schema, payload));
}

/** The names of each change, and the status of its order. */
async function changesIn(projectId: string): Promise<readonly (readonly string[])[]> {
  return (await eventsIn(projectId, ResourceChangedSchema)).map(({ names, data }) => {
    return [(JSON.parse(data) as { status: string }).status, ...names];
  });
}

test("an order is canceled or fulfilled once, when its status changes", async () => {
  const call = newProject();
  const project = { ...call().project, webhookEvents: ORDER_NAMES };
  const { id: orderId = "" } = await orders.createOrder({ amount: 900n }, call({ project }));
  const statuses = [CREATED, FULFILLED, FULFILLED, CANCELED, CANCELED, PAID, FULFILLED];
  for (const status of statuses) await orders.updateOrder({ orderId, status }, call({ project }));
  const { id = "" } = await orders.createOrder({ amount: 1n, status: CANCELED }, call({ project }));
  await orders.createOrder({ id, status: CANCELED, amount: 2n }, call({ project }));
  const updated = "customer.order.updated";
  expect(await changesIn(project.id)).toEqual([
    ["CREATED", "customer.order.created"],
    ["CREATED", updated],
    ["FULFILLED", updated, "customer.order.fulfilled"],
    ["FULFILLED", updated],
    ["CANCELED", updated, "customer.order.canceled"],
    ["CANCELED", updated],
    ["PAID", updated],
    ["FULFILLED", updated, "customer.order.fulfilled"],
    ["CANCELED", "customer.order.created", "customer.order.canceled"],
    ["CANCELED", updated],
  ]);
});

test("imported orders, and orders of projects whose webhooks do not receive them, publish nothing", async () => {
  const call = newProject();
  const project = { ...call().project, webhookEvents: ORDER_NAMES };
  const items = [{ sourceId: "cart-1", amount: 900n, status: CANCELED }];
  await imports.importOrders({ items }, call({ project }));
  const other = { ...project, webhookEvents: ["customer.order.created"] };
  await orders.updateOrder({ orderId: "cart-1", status: FULFILLED }, call({ project: other }));
  expect(await changesIn(project.id)).toEqual([]);
});

test.each([
  ["a paid order", [PAID, CANCELED, CANCELED, PAID, CANCELED], [CANCELED, CANCELED]],
  ["an order that was paid once", [PAID, CREATED, CANCELED], [CANCELED]],
  ["an order that was never paid", [FULFILLED, CANCELED, CREATED, CANCELED], []],
])(
  "the cancellation of %s is published where it ends pending points",
  async (_, statuses, ends) => {
    const call = newProject();
    for (const cancelPendingPointsOnOrderCancel of [true, false]) {
      const { id, ...settings } = call().project;
      const project = { ...settings, id: `${id}-${cancelPendingPointsOnOrderCancel}` };
      const inProject = () => call({ project: { ...project, cancelPendingPointsOnOrderCancel } });
      const { id: orderId = "" } = await orders.createOrder({ amount: 900n }, inProject());
      for (const status of statuses) await orders.updateOrder({ orderId, status }, inProject());
      const edits = await eventsIn(project.id, OrderEditedSchema);
      const ending = edits.filter(({ cancelsPaidOrder }) => cancelsPaidOrder);
      const expected = cancelPendingPointsOnOrderCancel ? ends : [];
      expect(ending.map(({ order }) => order?.status)).toEqual(expected);
    }
  },
);
