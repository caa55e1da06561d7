import { createHash } from "node:crypto";

import { ApiError } from "@scrip/errors";
import type { Queryable } from "@scrip/postgres";

import { type HttpResponse, wholeBody } from "../http/request-context.ts";
import { type RequestKey, storeFirstResponse, type StoredResponse } from "../store/idempotency.ts";

const KEEP_SECONDS = 48 * 3_600;

export type CompletedResponses = {
  /**
   * Stores the completed response for a response that the service stores itself, and returns the
   * one that was stored first. A response with another original belongs to an earlier use of the
   * key. Rejects with `service_unavailable` when it cannot be stored: a repetition gets the
   * response, while one that was sent now could differ from it.
   */
  storeFirst(
    key: RequestKey,
    responses: { readonly original: HttpResponse; readonly completed: HttpResponse },
  ): Promise<HttpResponse>;
};

/**
 * Responses with the references that the gateway fills in, which may change before a replay. The
 * service that owns the effect stores the response without them (docs/idempotency.md#replay).
 */
export function createCompletedResponses(
  db: Queryable,
  onError: (error: unknown) => void,
): CompletedResponses {
  return {
    async storeFirst({ projectId, scopedKey }, { original, completed }) {
      const requestHash = createHash("sha256")
        .update(wholeBody(original) ?? "")
        .digest();
      try {
        const key = { projectId, scopedKey, requestHash };
        const first = await storeFirstResponse(db, key, toStored(completed), {
          keepSeconds: KEEP_SECONDS,
        });
        return first === undefined ? completed : fromStored(first);
      } catch (cause) {
        onError(cause);
        throw new ApiError("service_unavailable", { cause });
      }
    },
  };
}

const toStored = (response: HttpResponse): StoredResponse => ({
  status: response.status,
  headers: response.contentType === undefined ? {} : { "content-type": response.contentType },
  body: wholeBody(response) ?? null,
});

const fromStored = ({ status, headers, body }: StoredResponse): HttpResponse => ({
  status,
  contentType: headers["content-type"],
  body: body ?? undefined,
});
