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

/** Seconds that a key stays locked when its process dies; longer than any call takes. */
const LOCK_SECONDS = 30;
const KEEP_SECONDS = 48 * 3_600;

export type StoredResponses = {
  /** Does the work once per key and returns the stored response to repeats. */
  once(key: RequestKey, work: () => Promise<HttpResponse>): Promise<OnceResult>;
  /**
   * Stores the completed response for a response that the service stores itself, and returns the
   * one that was stored first. A response with another original belongs to an earlier use of the
   * key.
   */
  storeFirst(
    key: RequestKey,
    responses: { readonly original: HttpResponse; readonly completed: HttpResponse },
  ): Promise<HttpResponse>;
};

export type OnceResult = { readonly response: HttpResponse; readonly replayed: boolean };

/**
 * Stores responses in a transaction of their own. When the process dies between the effect and
 * storing the response, both differ, so RPCs that move value store their response in the service
 * (docs/idempotency.md#replay). `work` returns errors as responses and does not throw.
 */
export function createStoredResponses(
  db: Queryable,
  onError: (error: unknown) => void,
): StoredResponses {
  return {
    async once(key, work) {
      const begin = await beginRequest(db, key, {
        lockSeconds: LOCK_SECONDS,
        keepSeconds: KEEP_SECONDS,
      });
      if (begin.kind === "finished")
        return { response: fromStored(begin.response), replayed: true };
      if (begin.kind === "reused") throw new ApiError("idempotency_key_reused");
      if (begin.kind === "in_flight") {
        throw new ApiError("idempotency_in_progress");
      }
      const response = await work();
      try {
        if (!isFinal(response.status)) await releaseRequest(db, key, begin.attempt);
        else await storeResponse(db, key, begin.attempt, toStored(response));
      } catch (error) {
        // The work took effect, so its response is sent; repeats are rejected until the lock ends.
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
        // The call took effect, so its response is sent.
        onError(error);
        return completed;
      }
    },
  };
}

/** Whether repeats would get the same response forever; others may be retried. */
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
