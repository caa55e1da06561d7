import { rowKey } from "./usage.ts";

export type IdempotencyKey = { readonly key: string; readonly requestHash: Uint8Array };

export type KeyedCommand = {
  readonly projectId: string;
  readonly idempotency: IdempotencyKey | null;
};

export type Repetition =
  /** Answered before: by an earlier batch, or by the command of this batch at `position`. */
  | { readonly kind: "replayed"; readonly position: number | null }
  /** The key belongs to another request. */
  | { readonly kind: "key_reused" };

/**
 * Decides commands in the order of their arrival, each key once: what comes again under a key that has
 * its answer is a repetition. `answered` are the hashes of the requests of earlier batches, by
 * `rowKey` of project and key; a decision that is no answer leaves its key free.
 */
export function decideOnce<Command extends KeyedCommand, Decision>(
  commands: readonly Command[],
  answered: ReadonlyMap<string, Uint8Array>,
  {
    decide,
    isAnswer,
  }: {
    readonly decide: (command: Command) => Decision;
    readonly isAnswer: (decision: Decision) => boolean;
  },
): readonly (Decision | Repetition)[] {
  const answeredHere = new Map<string, number>();
  return commands.map((command, position) => {
    const { idempotency } = command;
    if (idempotency === null) return decide(command);
    const key = rowKey(command.projectId, idempotency.key);
    const stored = answered.get(key);
    if (stored !== undefined) return repeat(stored, idempotency, null);
    const earlier = answeredHere.get(key);
    if (earlier !== undefined) {
      const first = commands[earlier]?.idempotency?.requestHash;
      return repeat(first, idempotency, earlier);
    }
    const decision = decide(command);
    if (isAnswer(decision)) answeredHere.set(key, position);
    return decision;
  });
}

function repeat(
  hash: Uint8Array | undefined,
  { requestHash }: IdempotencyKey,
  position: number | null,
): Repetition {
  if (hash === undefined || !equalBytes(hash, requestHash)) return { kind: "key_reused" };
  return { kind: "replayed", position };
}

const equalBytes = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, index) => byte === b[index]);
