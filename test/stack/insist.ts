import { setTimeout as sleep } from "node:timers/promises";

import { type Answer, type Api, newCode } from "./api.ts";

/** A client gives up after this long without an answer. */
const PATIENCE_MS = 90_000;

/** Not an answer yet: try again. */
const UNDER_WAY: ReadonlySet<string> = new Set(["idempotency_in_progress", "multiple_requests"]);

/** Repeats a request under one key until it is answered by more than an outage. */
export async function insist(api: Api, path: string, body: unknown = {}): Promise<Answer> {
  const headers = { "idempotency-key": newCode("key") };
  for (const deadline = Date.now() + PATIENCE_MS; ;) {
    const answer = await api.post(path, body, headers).catch(() => undefined);
    const isFinal =
      answer !== undefined && answer.status < 500 && !UNDER_WAY.has(answer.body["key"]);
    if (isFinal) return answer;
    if (Date.now() > deadline) throw new Error(`no answer: ${answer?.text ?? "no connection"}`);
    await sleep(100);
  }
}
