import path from "node:path";

import { asAdmin, emptyDatabase } from "@scrip/testing";
import { expect, test } from "vitest";

import { checkWrites, createDatabase, migrate, writeFailureOf } from "../src/index.ts";

const SERVICE = {
  schema: "till",
  role: "scrip_till",
  folder: path.join(import.meta.dirname, "fixture/till"),
};

test.each(["table till.write_check", "collation till.caseless"])(
  "a schema without the %s counts as missing until the next migration",
  async (part) => {
    await using server = await emptyDatabase();
    const options = { url: server.url, ...SERVICE };
    await migrate(options);
    await using stack = new AsyncDisposableStack();
    const db = createDatabase({ ...options, poolSize: 1, onError: () => {} });
    stack.defer(() => db.close());
    const failure = () => checkWrites(db).then(() => undefined, writeFailureOf);
    expect(await failure()).toBeUndefined();

    await asAdmin(server.url, (client) => client.query(`drop ${part}`));
    expect(await failure()).toBe("schema_missing");

    await migrate(options);
    expect(await failure()).toBeUndefined();
  },
);
