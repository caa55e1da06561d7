import { create } from "@bufbuild/protobuf";
import { invalidPayload, notFound } from "@scrip/errors";
import type { Queryable } from "@scrip/postgres";
import {
  CreateEarningRulesResponseSchema,
  type EarningRuleService,
} from "@scrip/proto/scrip/loyalty/v1/earning_rules_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import type { EarningRule } from "../domain/earning/earning-rule.ts";
import { newEarningRule } from "../earning/new-earning-rule.ts";
import { storeValidationRules } from "../earning/write-rules.ts";
import { announceEarningRules } from "../events/earning-rules-found.ts";
import { earningRuleToProto } from "../mapping/earning-rule.ts";
import { requireProgram } from "../points/find-program.ts";
import { findEventSchema } from "../store/custom-event-schemas.ts";
import { countEarningRules, insertEarningRule } from "../store/earning-rules.ts";
import { followSegment } from "../store/segment-members.ts";
import { findSegment, lockSegments } from "../store/segments.ts";

/** All of them are loaded together, and evaluated for every event of their kind. */
const MAX_RULES = 100n;

export const createEarningRules =
  (deps: Deps): Handler<typeof EarningRuleService.method.createEarningRules> =>
  async ({ campaignId, rules: requests }, call) => {
    const { now } = call;
    const projectId = call.project.id;
    const rules = await Promise.all(
      requests.map((request) => newEarningRule(deps, request, { projectId, campaignId, now })),
    );
    // Until the replica contains the program, its events earn nothing, so the request waits for it.
    await requireProgram(deps, call, campaignId);
    await deps.definitions.write(projectId, async (tx) => {
      const total = (await countEarningRules(tx, projectId)) + BigInt(rules.length);
      if (total > MAX_RULES) {
        throw invalidPayload(`A project cannot have more than ${MAX_RULES} earning rules`);
      }
      await storeValidationRules(tx, projectId, requests);
      for (const rule of rules) {
        await keepReferences(tx, projectId, rule);
        await insertEarningRule(tx, projectId, rule);
        if (rule.segmentId !== null) await followSegment(tx, projectId, rule.segmentId);
      }
      await announceEarningRules(tx, call);
    });
    deps.onEvents();
    return create(CreateEarningRulesResponseSchema, { rules: rules.map(earningRuleToProto) });
  };

/**
 * Rejects a rule whose schema or segment was deleted concurrently, and locks both, so that deletions wait until the
 * transaction ends.
 */
async function keepReferences(
  tx: Queryable,
  projectId: string,
  { schemaId, segmentId }: EarningRule,
): Promise<void> {
  if (schemaId !== null) {
    const schema = await findEventSchema(tx, { projectId, id: schemaId, lock: true });
    if (schema === undefined) throw notFound("custom_event_schema", schemaId);
  }
  if (segmentId !== null) {
    await lockSegments(tx, projectId);
    const segment = await findSegment(tx, projectId, segmentId);
    if (segment === undefined) throw notFound("segment", segmentId);
  }
}
