import { rowKey } from "../domain/commit.ts";
import type { KeyedCommand } from "../domain/idempotency.ts";
import type { StoredAnswer } from "../store/idempotency.ts";

type Answered<Outcome> = {
  /** Of the commands of this batch, as far as they were rendered. */
  readonly outcomes: readonly Outcome[];
  /** Of earlier batches, by `rowKey` of project and key. */
  readonly answers: ReadonlyMap<string, StoredAnswer>;
  readonly read: (stored: StoredAnswer) => Outcome;
};

/** What was answered first under the key of a command: at `position` of its batch, or before it. */
export function replay<Outcome extends { readonly replayed: boolean }>(
  { projectId, idempotency }: KeyedCommand,
  position: number | null,
  { outcomes, answers, read }: Answered<Outcome>,
): Outcome {
  if (position !== null) {
    const first = outcomes[position];
    if (first === undefined) throw new Error("a replay comes before its first answer");
    return { ...first, replayed: true };
  }
  const stored = answers.get(rowKey(projectId, idempotency?.key ?? ""));
  if (stored === undefined) throw new Error("a replay without its stored answer");
  return { ...read(stored), replayed: true };
}
