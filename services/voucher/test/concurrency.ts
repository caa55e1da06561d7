import { type CommitOutcome } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";

import { type commandOf, type Commit, createCommit } from "./builders.ts";
import { type TestService } from "./deps.ts";

/** Repeats what was not decided because other batches held the voucher, as slow machines let them. */
export const withRetries =
  (once: Commit): Commit =>
  async (...commands) => {
    const outcomes = await once(...commands);
    const open = commands.filter((_, position) => isLocked(outcomes[position]));
    if (open.length === 0) return outcomes;
    const later = await withRetries(once)(...open);
    return outcomes.map((outcome) => (isLocked(outcome) ? (later.shift() ?? outcome) : outcome));
  };

const isLocked = (outcome: CommitOutcome | undefined): boolean =>
  outcome?.outcome.case === "rejected" && outcome.outcome.value.key === "service_unavailable";

/** Numbers that are the same in each run. */
export function createDice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % sides;
  };
}

/** What a service's own callers do: so many batches are under way at a time. */
const LANES = 9;

/**
 * Commits these batches through several processes concurrently, and returns the outcomes in the order of
 * the batches.
 */
export async function race(
  service: TestService,
  batches: readonly (readonly ReturnType<typeof commandOf>[])[],
): Promise<readonly CommitOutcome[]> {
  const commits = [service.redemptions, service.replica(), service.replica()].map((client) =>
    withRetries(createCommit(service, client)),
  );
  const open = batches.entries();
  const outcomes: CommitOutcome[][] = [];
  const lane = async (index: number): Promise<void> => {
    const commit = commits[index % commits.length] ?? createCommit(service);
    for (const [position, batch] of open) outcomes[position] = await commit(...batch);
  };
  await Promise.all(Array.from({ length: LANES }, (_, index) => lane(index)));
  return outcomes.flat();
}
