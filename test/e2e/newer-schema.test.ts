import { afterAll, expect, test } from "vitest";

import { createApi, inParallel, newCode } from "../stack/api.ts";
import { invariantViolations } from "../stack/invariants.ts";
import { applyLaterRelease } from "../stack/later-release.ts";
import { isInProgress, NO_CONNECTION, retryUnavailable } from "../stack/retry.ts";
import { startStack } from "../stack/stack.ts";
import { writingRequests } from "../stack/writing-requests.ts";

const WIDTH = 4;

const stack = await startStack("standalone");
afterAll(() => stack[Symbol.asyncDispose]());

test("an old process starts on a schema to which a later release has added, and serves each RPC that writes", async () => {
  await stack.crash(undefined, () => applyLaterRelease(stack.databaseUrl));
  const failed = await inParallel(await writingRequests(stack), WIDTH, async (request) => {
    const { rpc, method, path, headers, body } = request;
    const api = createApi(stack.url, { ...headers, "idempotency-key": newCode("key") });
    const send = method === "POST" ? api.post : api.put;
    const { status, text } = await retryUnavailable(
      () => send(path, body).catch(() => NO_CONNECTION),
      isInProgress,
    );
    return status < 300 ? [] : [`${rpc}: ${status} ${text}`];
  });
  expect(failed.flat()).toEqual([]);
  expect(await invariantViolations(stack)).toEqual([]);
});
