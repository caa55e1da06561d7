import type {
  RedemptionCommand,
  RedemptionService,
} from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import type { Handler } from "@scrip/rpc";
import { activeSpan } from "@scrip/telemetry";

import { createCommitLocked } from "../commit/commit-locked.ts";
import { createCommitUnlocked } from "../commit/commit-unlocked.ts";
import { parseCommand } from "../commit/parse-command.ts";
import type { Deps } from "../deps.ts";
import { deliverCommitted } from "../reward/deliver-committed.ts";
import { rejectUnavailable } from "../reward/reject-unavailable.ts";

/** Commits a batch of redemptions: plain ones in one statement where possible, the others under locks. */
export const commitRedemptions = (
  deps: Deps,
): Handler<typeof RedemptionService.method.commitRedemptions> => {
  const commitLocked = createCommitLocked(deps);
  const commitUnlocked = createCommitUnlocked(deps, commitLocked);
  return async (request) => {
    // Before the transaction: a cached definition is used only when the row has its version.
    await deps.definitions.load(deps.db, request.commands.flatMap(definitionsOf));
    const commands = request.commands.map((message) => parseCommand(message, deps.definitions));
    const unavailable = await rejectUnavailable(deps, commands);
    const available = commands.filter((command) => !unavailable.has(command));
    const unlocked = await commitUnlocked(available);
    const others = available.filter((command) => !unlocked.has(command));
    activeSpan()?.annotate({ "batch.items": commands.length, "batch.items_locked": others.length });
    const locked = others.length === 0 ? [] : await commitLocked(others);
    const inOrder = locked.values();
    const committed = commands.flatMap((command) => {
      const outcome = unavailable.get(command) ?? unlocked.get(command) ?? inOrder.next().value;
      return outcome === undefined ? [] : [{ projectId: command.projectId, outcome }];
    });
    return {
      $typeName: "scrip.voucher.v1.CommitRedemptionsResponse",
      outcomes: [...(await deliverCommitted(deps, committed))],
    };
  };
};

const definitionsOf = ({ projectId, parts }: RedemptionCommand) =>
  parts.flatMap(({ redeemable, definitionVersion: version }) =>
    redeemable.case === "voucherId" ? [{ projectId, id: redeemable.value, version }] : [],
  );
