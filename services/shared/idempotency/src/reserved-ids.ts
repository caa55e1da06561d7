import type { NewId } from "@scrip/ids";
import type { Queryable } from "@scrip/postgres";

import { requireSameRequest } from "./outcome.ts";
import { newSeed, seededIds } from "./seeded-ids.ts";
import { findRequest, insertRequest, type RequestKey } from "./stored-requests.ts";

/** Reserves ids for a request: the same at each repetition of it, in every process. */
export async function reserveIds(db: Queryable, requestKey: RequestKey): Promise<NewId> {
  const seed = newSeed();
  if (await insertRequest(db, requestKey, seed)) return seededIds(seed);
  const stored = await findRequest(db, requestKey);
  if (stored !== undefined) requireSameRequest(stored.requestHash, requestKey);
  return seededIds(stored?.seed ?? seed);
}
