import { create, toBinary } from "@bufbuild/protobuf";
import { enqueue } from "@scrip/events";
import { newId } from "@scrip/ids";
import type { Queryable } from "@scrip/postgres";
import { EarningRulesFoundSchema } from "@scrip/proto/scrip/events/v1/loyalty_programs_pb";
import type { Call } from "@scrip/rpc";

import { PROGRAMS_TOPIC } from "./topics.ts";

/**
 * Tells the gateway that the project has earning rules, unless the project says so already. Called in the transaction that
 * writes a rule; the caller calls `deps.onEvents` after its commit.
 */
export async function announceEarningRules(tx: Queryable, call: Call): Promise<void> {
  const { id: projectId, hasEarningRules } = call.project;
  if (hasEarningRules === true) return;
  const event = {
    projectId,
    id: newId("event"),
    topic: PROGRAMS_TOPIC,
    type: EarningRulesFoundSchema.typeName,
    key: projectId,
    payload: toBinary(EarningRulesFoundSchema, create(EarningRulesFoundSchema, { projectId })),
  };
  await enqueue(tx, [event], call);
}
