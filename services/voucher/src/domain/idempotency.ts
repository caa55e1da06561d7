import { rowKey } from "./usage.ts";

export type IdempotencyKey = { readonly key: string; readonly requestHash: Uint8Array };

export type KeyedCommand = {
  readonly projectId: string;
  readonly idempotency: IdempotencyKey | null;
};

export type ReplayDecision =
  /** Has a stored response, or the same key as the command of this batch at `position`. */
  | { readonly kind: "replayed"; readonly position: number | null }
  /** The key belongs to a request with another hash. */
  | { readonly kind: "key_reused" };

/**
 * Decides commands in the order of arrival, each idempotency key once; a later command with the key is a replay
 * (docs/idempotency.md#replay). `storedHashes` has the request hashes of stored responses, by `rowKey` of
 * project and key. A decision that is not final leaves its key free.
 */
export function decideWithReplays<Command extends KeyedCommand, Decision>(
  commands: readonly Command[],
  storedHashes: ReadonlyMap<string, Uint8Array>,
  {
    decide,
    isFinal,
  }: {
    readonly decide: (command: Command) => Decision;
    readonly isFinal: (decision: Decision) => boolean;
  },
): readonly (Decision | ReplayDecision)[] {
  const decidedHere = new Map<string, number>();
  return commands.map((command, position) => {
    const { idempotency } = command;
    if (idempotency === null) return decide(command);
    const key = rowKey(command.projectId, idempotency.key);
    const stored = storedHashes.get(key);
    if (stored !== undefined) return repeat(stored, idempotency, null);
    const earlier = decidedHere.get(key);
    if (earlier !== undefined) {
      const first = commands[earlier]?.idempotency?.requestHash;
      return repeat(first, idempotency, earlier);
    }
    const decision = decide(command);
    if (isFinal(decision)) decidedHere.set(key, position);
    return decision;
  });
}

function repeat(
  hash: Uint8Array | undefined,
  { requestHash }: IdempotencyKey,
  position: number | null,
): ReplayDecision {
  if (hash === undefined || !equalBytes(hash, requestHash)) return { kind: "key_reused" };
  return { kind: "replayed", position };
}

const equalBytes = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, index) => byte === b[index]);
