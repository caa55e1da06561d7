import path from "node:path";

import { testDatabase } from "@scrip/testing";
import { afterAll, expect, onTestFinished, test } from "vitest";

const db = await testDatabase({
  schema: "till",
  role: "scrip_till",
  folder: path.join(import.meta.dirname, "fixture/till"),
});
afterAll(() => db[Symbol.asyncDispose]());

test("writes instants of any year in any time zone of the machine", async () => {
  const { TZ } = process.env;
  process.env["TZ"] = "America/St_Johns";
  onTestFinished(() => {
    if (TZ === undefined) delete process.env["TZ"];
    else process.env["TZ"] = TZ;
  });
  const instants = [
    "0001-01-01T00:00:00.000Z",
    "1900-01-01T00:00:00.000Z",
    "2026-11-01T05:30:00.000Z",
  ];
  for (const instant of instants) {
    const { rows } = await db.query(
      "select $1::timestamptz as at, to_char($1::timestamptz at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS') as text",
      [new Date(instant)],
    );
    expect(rows).toEqual([{ at: new Date(instant), text: instant.slice(0, 19) }]);
  }
});
