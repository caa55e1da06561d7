import { createBatcher } from "@scrip/batching";
import { ApiError } from "@scrip/errors";
import type { Queryable } from "@scrip/postgres";

import {
  type Credentials,
  findCredentials,
  findKeys,
  type KeyAndToken,
  type KeyOfProject,
} from "../store/credentials.ts";

/** `suspect`: lookups for an address or a key id with too many failed logins. */
export type LookupLane = "normal" | "suspect";

type Lookups = {
  readonly credentials: (pair: KeyAndToken) => Promise<Credentials | undefined>;
  readonly key: (keyId: string) => Promise<KeyOfProject | undefined>;
};

const MAX_BATCH = 200;
/**
 * The maximum number of connections, so that a lookup is only rejected because of its waiting time, not because the
 * queue is full.
 */
const MAX_WAITING = 12_000;
const MAX_WAIT_MS = 1_500;

/**
 * Looks credentials up in batches, so that the number of concurrent queries does not grow with the
 * number of logins. A flood of wrong logins fills its own lane, with one query at a time: other
 * callers do not wait behind it, and valid credentials in it still pass, a batch or two later.
 */
export const createCredentialLookups = (db: Queryable): Readonly<Record<LookupLane, Lookups>> => ({
  normal: createLookups(db, 2),
  suspect: createLookups(db, 1),
});

function createLookups(db: Queryable, lanes: number): Lookups {
  const limits = {
    lanes,
    maxBatch: MAX_BATCH,
    overload: {
      maxWaiting: MAX_WAITING,
      maxWaitMs: MAX_WAIT_MS,
      error: () => new ApiError("service_unavailable"),
    },
  };
  return {
    credentials: createBatcher({ ...limits, send: (pairs) => findCredentials(db, pairs) }),
    key: createBatcher({ ...limits, send: (keyIds) => findKeys(db, keyIds) }),
  };
}
