import { setTimeout as sleep } from "node:timers/promises";

import { type ApiResponse, type Api, newCode } from "./api.ts";

/** How long a request is retried without a final response, by default. */
const TIMEOUT_MS = 90_000;
const RETRY_INTERVAL_MS = 100;

/** Error keys that mean that the request is still in progress. */
const IN_PROGRESS_KEYS: ReadonlySet<string> = new Set([
  "idempotency_in_progress",
  "multiple_requests",
]);

export const isInProgress = ({ body: { key } }: ApiResponse): boolean => IN_PROGRESS_KEYS.has(key);

/** Stands for the response of a request whose connection failed. */
export const NO_CONNECTION: ApiResponse = {
  status: 503,
  headers: new Headers(),
  text: "no connection",
  body: {},
};

/** Posts a request under one idempotency key until its response is final. */
export async function postWithRetry(
  api: Api,
  path: string,
  body: unknown = {},
): Promise<ApiResponse> {
  const headers = { "idempotency-key": newCode("key") };
  return retryUnavailable(
    () => api.post(path, body, headers).catch(() => NO_CONNECTION),
    isInProgress,
  );
}

/**
 * Retries a request on unavailable and overload responses, which a busy machine may return. Only for
 * requests that have an idempotency key or change nothing.
 */
export async function retryUnavailable(
  send: () => Promise<ApiResponse>,
  isPending: (response: ApiResponse) => boolean = () => false,
  timeoutMs = TIMEOUT_MS,
): Promise<ApiResponse> {
  for (const deadline = Date.now() + timeoutMs; ;) {
    const response = await send();
    const isUnavailable = response.status >= 500 || response.status === 429;
    if (!isUnavailable && !isPending(response)) return response;
    if (Date.now() > deadline) throw new Error(`no final response: ${response.text}`);
    await sleep(RETRY_INTERVAL_MS);
  }
}

/** Repeats the work until it throws no more, and returns its result. Unlike that of Vitest, also outside of tests. */
export async function waitFor<Result>(
  work: () => Promise<Result>,
  { timeout, interval }: { readonly timeout: number; readonly interval: number },
): Promise<Result> {
  for (const deadline = Date.now() + timeout; ;) {
    try {
      return await work();
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
    await sleep(interval);
  }
}
