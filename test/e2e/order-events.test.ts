import { expect, test } from "vitest";

import { ONE_EVENT_PER_ORDER, payOrders } from "../stack/order-payments.ts";
import { startStack } from "../stack/stack.ts";

test("publishes that an order is paid once, however it is paid and how often", async () => {
  await using stack = await startStack("standalone");
  expect(await payOrders(stack)).toEqual(ONE_EVENT_PER_ORDER);
});
