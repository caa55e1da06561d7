import { createPgEventBus, enqueue, publishPending } from "@scrip/events";
import { createDatabase } from "@scrip/postgres";
import { emptyDatabase } from "@scrip/testing";
import { ROLE, SCHEMA } from "@scrip/voucher/service";
import { expect, test } from "vitest";

import { scrip } from "./installation.ts";

const CLOSE_MS = 5_000;

test("publishes the events of a service again", async () => {
  await using database = await emptyDatabase();
  const run = (...args: readonly string[]) =>
    scrip({ DATABASE_URL: database.url }, "--json", ...args);
  expect((await run("migrate")).exitCode).toBe(0);
  const onError = (): void => {};
  const db = createDatabase({
    url: database.url,
    schema: SCHEMA,
    role: ROLE,
    poolSize: 1,
    onError,
  });
  const bus = await createPgEventBus({ url: database.url, onError });
  const topic = "scrip.redemptions.v1";
  const payload = Buffer.from("");
  await enqueue(
    db,
    [{ projectId: "proj_1", id: "event_1", topic, key: "v_1", payload }],
    undefined,
  );
  const publish = async (): Promise<number> => (await publishPending(db, bus, 10)).published;
  expect(await publish()).toBe(1);
  await publish();
  expect(await publish()).toBe(0);

  const { json } = await run("events", "republish", "--since", "2026-01-01T00:00Z");
  expect(json).toContainEqual({ service: "voucher", from: expect.any(String) });
  expect(json).toContainEqual({ service: "campaign", from: null });
  expect(await publish()).toBe(1);
  const only = await run(
    "events",
    "republish",
    "--since",
    "2026-01-01T00:00Z",
    "--service",
    "loyalty",
  );
  expect(only.json).toEqual([{ service: "loyalty", from: null }]);

  expect((await run("events", "republish", "--since", "yesterday")).exitCode).toBe(2);
  const unknown = await run(
    "events",
    "republish",
    "--since",
    "2026-01-01T00:00Z",
    "--service",
    "mail",
  );
  expect(unknown).toMatchObject({ exitCode: 2, errors: expect.stringContaining("mail") });
  await db.close();
  await bus.close(CLOSE_MS);
});
