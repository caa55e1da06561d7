import { createHash } from "node:crypto";

import { ApiError } from "@scrip/errors";
import type { Queryable } from "@scrip/postgres";

import type { HttpResponse } from "../http/request-context.ts";
import {
  beginRequest,
  storeFirstResponse,
  releaseRequest,
  type RequestKey,
  storeResponse,
  type StoredResponse,
} from "../store/idempotency.ts";

/** A process that dies keeps its keys locked for so long; no call takes longer. */
const LOCK_SECONDS = 30;
const KEEP_SECONDS = 48 * 3_600;

export type StoredResponses = {
  /** Does the work once for a key, and gives its answer again to every repeat. */
  once(key: RequestKey, work: () => Promise<HttpResponse>): Promise<OnceResult>;
  /**
   * Gives the answer that was given first, where the service keeps what its answers are made `of` and
   * the door adds to it. What is of something else is an answer to an earlier use of the key.
   */
  storeFirst(
    key: RequestKey,
    responses: { readonly original: HttpResponse; readonly completed: HttpResponse },
  ): Promise<HttpResponse>;
};

export type OnceResult = { readonly response: HttpResponse; readonly replayed: boolean };

/**
 * Keeps answers in rows of the gateway, in transactions of their own: what the call did and its
 * stored answer can come apart when the process dies in between, so calls that move value keep
 * theirs in the service (spec/rulings.md 5). `work` answers failures, it does not throw them.
 */
export function createStoredResponses(
  db: Queryable,
  onError: (error: unknown) => void,
): StoredResponses {
  return {
    async once(key, work) {
      const begun = await beginRequest(db, key, {
        lockSeconds: LOCK_SECONDS,
        keepSeconds: KEEP_SECONDS,
      });
      if (begun.kind === "finished")
        return { response: fromStored(begun.response), replayed: true };
      if (begun.kind === "reused") throw new ApiError("idempotency_key_reused");
      if (begun.kind === "in_flight") {
        throw new ApiError("idempotency_in_progress");
      }
      const response = await work();
      try {
        if (!isFinal(response.status)) await releaseRequest(db, key, begun.attempt);
        else await storeResponse(db, key, begun.attempt, toStored(response));
      } catch (error) {
        // The work is done, and its answer is owed; a repeat is refused until the lock ends.
        onError(error);
      }
      return { response, replayed: false };
    },
    async storeFirst({ projectId, scopedKey }, { original, completed }) {
      const requestHash = createHash("sha256")
        .update(original.body ?? "")
        .digest();
      try {
        const key = { projectId, scopedKey, requestHash };
        const first = await storeFirstResponse(db, key, toStored(completed), {
          keepSeconds: KEEP_SECONDS,
        });
        return first === undefined ? completed : fromStored(first);
      } catch (error) {
        // The value was taken, and its answer is owed.
        onError(error);
        return completed;
      }
    },
  };
}

/** Whether a repeat would be answered alike for ever; the rest may be tried again. */
const isFinal = (status: number): boolean =>
  (status >= 200 && status < 300) ||
  status === 400 ||
  status === 404 ||
  status === 409 ||
  status === 422;

const toStored = ({ status, contentType, body }: HttpResponse): StoredResponse => ({
  status,
  headers: contentType === undefined ? {} : { "content-type": contentType },
  body: body === undefined ? null : Buffer.from(body),
});

const fromStored = ({ status, headers, body }: StoredResponse): HttpResponse => ({
  status,
  contentType: headers["content-type"],
  body: body ?? undefined,
});
