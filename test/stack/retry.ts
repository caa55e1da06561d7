import { setTimeout as sleep } from "node:timers/promises";

import { type ApiResponse, type Api, newCode } from "./api.ts";

/** A client gives up after this long without an answer. */
const TIMEOUT_MS = 90_000;
const RETRY_INTERVAL_MS = 100;

/** Not an answer yet: try again. */
const IN_PROGRESS_KEYS: ReadonlySet<string> = new Set([
  "idempotency_in_progress",
  "multiple_requests",
]);

const NO_CONNECTION: ApiResponse = {
  status: 503,
  headers: new Headers(),
  text: "no connection",
  body: {},
};

/** Repeats a request under one key until it is answered by more than an outage. */
export async function postWithRetry(
  api: Api,
  path: string,
  body: unknown = {},
): Promise<ApiResponse> {
  const headers = { "idempotency-key": newCode("key") };
  return retryUnavailable(
    () => api.post(path, body, headers).catch(() => NO_CONNECTION),
    ({ body: { key } }) => IN_PROGRESS_KEYS.has(key),
  );
}

/**
 * Sends again what was answered by an outage or an overload, as clients do: one that waits too long for a
 * lock or a processor is told to come back. Only for what has a key, or changes nothing.
 */
export async function retryUnavailable(
  send: () => Promise<ApiResponse>,
  isInProgress: (response: ApiResponse) => boolean = () => false,
): Promise<ApiResponse> {
  for (const deadline = Date.now() + TIMEOUT_MS; ;) {
    const response = await send();
    const isUnavailable = response.status >= 500 || response.status === 429;
    if (!isUnavailable && !isInProgress(response)) return response;
    if (Date.now() > deadline) throw new Error(`no answer: ${response.text}`);
    await sleep(RETRY_INTERVAL_MS);
  }
}
