import type { Error as ErrorMessage } from "@scrip/proto/scrip/common/v1/error_pb";

import type { Redeemed } from "../domain/rollback.ts";
import { rolledBackEvent } from "../events/redemption-rolled-back.ts";
import type { NewRollback } from "../store/rollbacks.ts";
import type { RollbackParts } from "./build-outcomes.ts";
import { rowOf } from "./build-rows.ts";
import type { Command } from "./parse-command.ts";

/** Records a rollback that was refused, which changes nothing else. Answers its id. */
export function recordRefusal(
  command: Command,
  redemption: Redeemed,
  { error, parts }: { readonly error: ErrorMessage; readonly parts: RollbackParts },
): string {
  const { draft, context } = parts;
  const id = context.newId("rrf");
  const row: NewRollback = {
    ...rowOf(command, redemption, { id, parentId: null, usage: null, parts }),
    status: "FAILED",
    amount: null,
    failure: { code: error.key, message: error.message },
  };
  draft.rollbacks.push(row);
  if (row.customerId !== null) {
    draft.events.push(
      rolledBackEvent(row, {
        id: context.newId("event"),
        now: command.message.now,
        order: undefined,
        taken: undefined,
      }),
    );
  }
  return id;
}
