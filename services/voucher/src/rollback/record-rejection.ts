import type { Error as ErrorMessage } from "@scrip/proto/scrip/common/v1/error_pb";

import type { RollbackTarget } from "../domain/decide-rollbacks.ts";
import { redemptionRolledBack } from "../events/redemption-rolled-back.ts";
import type { NewRollback } from "../store/rollbacks.ts";
import { rollbackToRow } from "./build-rows.ts";
import type { RollbackBuild } from "./draft.ts";
import type { Command } from "./parse-command.ts";

/** Records a failed rollback, which changes nothing else, and returns its id. */
export function recordRejection(
  command: Command,
  redemption: RollbackTarget,
  { error, build }: { readonly error: ErrorMessage; readonly build: RollbackBuild },
): string {
  const { draft, context } = build;
  const id = context.newId("rrf");
  const row: NewRollback = {
    ...rollbackToRow(command, redemption, { id, parentId: null, usage: null, build }),
    status: "FAILED",
    amount: null,
    failure: { code: error.key, message: error.message },
  };
  draft.rollbacks.push(row);
  if (row.customerId !== null) {
    draft.events.push(
      redemptionRolledBack(row, {
        id: context.newId("event"),
        command: command.message,
        order: undefined,
        rolledBack: undefined,
      }),
    );
  }
  return id;
}
