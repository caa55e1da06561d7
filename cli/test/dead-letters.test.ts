import { create, toBinary } from "@bufbuild/protobuf";
import { createPgEventBus } from "@scrip/events";
import { CustomerDeletedSchema } from "@scrip/proto/scrip/events/v1/customers_pb";
import { emptyDatabase } from "@scrip/testing";
import { expect, test } from "vitest";

import { scrip } from "./installation.ts";

const CLOSE_MS = 5_000;
const TOPIC = "scrip.customers.v1";

test("lists, shows and replays events that a consumer could not handle", async () => {
  await using database = await emptyDatabase();
  const bus = await createPgEventBus({
    url: database.url,
    onError: () => {},
    timings: { idlePollMs: 50 },
    policy: { attempts: 1 },
  });
  const handled: string[] = [];
  let isMended = false;
  await bus.subscribe({
    group: "voucher-customers",
    topics: [TOPIC],
    handler: async (batch) => {
      if (!isMended) throw new Error("there is no customer");
      handled.push(...batch.map(({ id }) => id));
    },
  });
  const message = create(CustomerDeletedSchema, { permanent: true });
  const payloads = [toBinary(CustomerDeletedSchema, message), Buffer.from("not a message")];
  await bus.publish(
    payloads.map((payload, index) => ({
      id: `event_${index}`,
      topic: TOPIC,
      key: "cust_1",
      projectId: "proj_1",
      type: CustomerDeletedSchema.typeName,
      payload,
      headers: {},
      occurredAt: new Date(0),
    })),
  );
  await expect.poll(() => bus.deadLetters({}, 10)).toHaveLength(2);

  const run = (...args: readonly string[]) =>
    scrip({ DATABASE_URL: database.url }, "--json", "dead-letters", ...args);
  const { json: listed } = await run("list", "--group", "voucher-customers");
  expect(listed).toMatchObject([
    { event_id: "event_0", key: "cust_1", error: expect.stringContaining("there is no customer") },
    { event_id: "event_1" },
  ]);
  expect((await run("list", "--group", "voucher-campaigns")).json).toEqual([]);
  for (const command of ["list", "replay"]) {
    const unknown = await run(command, "--group", "another");
    expect(unknown.exitCode).toBe(2);
    expect(unknown.errors).toContain("voucher-customers");
  }
  const ids = (listed as readonly { readonly id: string }[]).map(({ id }) => id);

  const [first, second] = await Promise.all(ids.map((id) => run("show", id)));
  expect(first?.json).toMatchObject({ id: ids[0], message: { permanent: true }, attempts: 1 });
  expect(second?.json.message).toEqual({
    base64: Buffer.from("not a message").toString("base64"),
  });

  isMended = true;
  expect((await run("replay", ids[0] ?? "")).json).toEqual({ replayed: [ids[0]] });
  await expect.poll(() => handled).toEqual(["event_0"]);
  expect((await run("replay", "--group", "voucher-customers")).json).toEqual({
    replayed: [ids[1]],
  });
  await expect.poll(() => handled).toEqual(["event_0", "event_1"]);
  expect((await run("list")).json).toEqual([]);

  expect((await run("show", ids[0] ?? "")).errors).toContain(`there is no dead letter ${ids[0]}`);
  expect((await run("show", "nonsense")).exitCode).toBe(2);
  expect((await run("replay")).exitCode).toBe(2);
  await bus.close(CLOSE_MS);
});
