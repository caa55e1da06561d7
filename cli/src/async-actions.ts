import { setTimeout as sleep } from "node:timers/promises";

import type { Api } from "./api.ts";
import { encode } from "./commands/arguments.ts";
import { HttpError, type JsonObject } from "./http.ts";
import type { Progress } from "./progress.ts";

const POLL_MS = { first: 100, last: 2000 };
/** A rolling update of the installation, or a short outage. */
const MAX_OUTAGE_MS = 120_000;

/** Polls an async action until it ends. */
export async function waitForAction(api: Api, id: string, progress: Progress): Promise<JsonObject> {
  return poll(api, `/v1/async-actions/${encode(id)}`, (action) => {
    const { status, processed, failed, total } = action;
    progress.update(Number(processed ?? 0) + Number(failed ?? 0), Number(total ?? 0));
    return status === "DONE" || status === "FAILED";
  });
}

/** Polls an object until it is done, also across short outages. */
export async function poll(
  api: Api,
  path: string,
  isDone: (found: JsonObject) => boolean,
): Promise<JsonObject> {
  let seenAt = Date.now();
  for (let delay = POLL_MS.first; ; delay = Math.min(delay * 1.5, POLL_MS.last)) {
    try {
      const found = await api.call("GET", path);
      seenAt = Date.now();
      if (isDone(found)) return found;
    } catch (error) {
      if (!isOutage(error) || Date.now() - seenAt > MAX_OUTAGE_MS) throw error;
    }
    await sleep(delay);
  }
}

export const isOutage = (error: unknown): boolean =>
  error instanceof HttpError &&
  (error.status === undefined || error.status === 429 || error.status >= 500);
