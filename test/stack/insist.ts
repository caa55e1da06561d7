import { setTimeout as sleep } from "node:timers/promises";

import { type Answer, type Api, newCode } from "./api.ts";

/** A client gives up after this long without an answer. */
const PATIENCE_MS = 90_000;
const PAUSE_MS = 100;

/** Not an answer yet: try again. */
const UNDER_WAY: ReadonlySet<string> = new Set(["idempotency_in_progress", "multiple_requests"]);

const NO_CONNECTION: Answer = {
  status: 503,
  headers: new Headers(),
  text: "no connection",
  body: {},
};

/** Repeats a request under one key until it is answered by more than an outage. */
export async function insist(api: Api, path: string, body: unknown = {}): Promise<Answer> {
  const headers = { "idempotency-key": newCode("key") };
  return untilAnswered(
    () => api.post(path, body, headers).catch(() => NO_CONNECTION),
    ({ body: { key } }) => UNDER_WAY.has(key),
  );
}

/**
 * Sends again what was answered by an outage or an overload, as clients do: one that waits too long for a
 * lock or a processor is told to come back. Only for what has a key, or changes nothing.
 */
export async function untilAnswered(
  send: () => Promise<Answer>,
  isUnderWay: (answer: Answer) => boolean = () => false,
): Promise<Answer> {
  for (const deadline = Date.now() + PATIENCE_MS; ;) {
    const answer = await send();
    const isToComeBack = answer.status >= 500 || answer.status === 429;
    if (!isToComeBack && !isUnderWay(answer)) return answer;
    if (Date.now() > deadline) throw new Error(`no answer: ${answer.text}`);
    await sleep(PAUSE_MS);
  }
}
