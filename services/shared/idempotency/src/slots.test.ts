import { expect, test } from "vitest";

import { createSlots } from "./slots.ts";

test("projects take turns for slots, and the requests of one keep their order", async () => {
  const slots = createSlots(1);
  const order: string[] = [];
  const run = (projectId: string, name: string) =>
    slots.run(projectId, async () => void order.push(name));
  await Promise.all([
    ...["a1", "a2", "a3", "a4"].map((name) => run("a", name)),
    ...["b1", "b2"].map((name) => run("b", name)),
  ]);
  expect(order).toEqual(["a1", "a2", "b1", "a3", "b2", "a4"]);
});

test("one project cannot fill the queue", async () => {
  const slots = createSlots(1);
  const { promise, resolve } = Promise.withResolvers<void>();
  const results = Array.from({ length: 502 }, () => slots.run("a", () => promise));
  await expect(results.at(-1)).rejects.toMatchObject({ key: "service_unavailable" });
  const other = slots.run("b", async () => "served");
  resolve();
  expect(await other).toBe("served");
  await Promise.all(results.slice(0, -1));
});
