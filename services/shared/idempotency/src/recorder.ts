import type { DescMethod } from "@bufbuild/protobuf";
import type { Queryable } from "@scrip/postgres";
import type { Call } from "@scrip/rpc";

import { compileEntry, type SuccessfulCall, type StoreEntry } from "./audit.ts";
import { isReceived, publishChanges, type PublishedChange } from "./resource-changes.ts";

/** Writes what follows from a successful call, in the transaction of its effect. */
export type Recorder = {
  readonly isNeeded: (call: Call) => boolean;
  readonly write: (tx: Queryable, made: SuccessfulCall) => Promise<void>;
};

/** Undefined for an RPC of which nothing is recorded. */
export function createRecorder(
  method: DescMethod,
  published: PublishedChange | undefined,
  storeEntry: StoreEntry,
): Recorder | undefined {
  const entryOf = compileEntry(method);
  if (entryOf === undefined && published === undefined) return undefined;
  return {
    isNeeded: (call) =>
      entryOf !== undefined || (published !== undefined && isReceived(published, call)),
    async write(tx, made) {
      if (published !== undefined && isReceived(published, made.call)) {
        await publishChanges(tx, published, made);
      }
      if (entryOf !== undefined) await storeEntry(tx, entryOf(made));
    },
  };
}
