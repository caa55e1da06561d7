import { rowKey } from "../domain/commit.ts";
import type { KeyedCommand } from "../domain/idempotency.ts";
import type { StoredResponse } from "../store/idempotency.ts";

type ReplaySources<Outcome> = {
  /** Outcomes of this batch, as far as they were built. */
  readonly outcomes: readonly Outcome[];
  /** Of earlier batches, by `rowKey` of project and key. */
  readonly storedResponses: ReadonlyMap<string, StoredResponse>;
  readonly read: (stored: StoredResponse) => Outcome;
};

/** The first outcome under the key of a command: at `position` of this batch, or of an earlier one. */
export function replay<Outcome extends { readonly replayed: boolean }>(
  { projectId, idempotency }: KeyedCommand,
  position: number | null,
  { outcomes, storedResponses, read }: ReplaySources<Outcome>,
): Outcome {
  if (position !== null) {
    const first = outcomes[position];
    if (first === undefined) throw new Error("a replay precedes its original");
    return { ...first, replayed: true };
  }
  const stored = storedResponses.get(rowKey(projectId, idempotency?.key ?? ""));
  if (stored === undefined) throw new Error("a replay has no stored response");
  return { ...read(stored), replayed: true };
}
