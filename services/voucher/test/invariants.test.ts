import { afterAll, expect, test } from "vitest";

import { voucherInvariants } from "../src/store/invariants.ts";
import { givenGift, startFixture } from "./fixture.ts";

const fixture = await startFixture();
afterAll(() => fixture[Symbol.asyncDispose]());

test("a gift card without anything on it breaks no invariant", async () => {
  await givenGift(fixture, 0n);
  const request = { projectId: fixture.projectId, after: "", limit: 10 };
  const chunks = await Promise.all(
    voucherInvariants.map(({ checkChunk }) => checkChunk(fixture.db, request)),
  );
  expect(chunks.flatMap(({ violations }) => violations)).toEqual([]);
});
