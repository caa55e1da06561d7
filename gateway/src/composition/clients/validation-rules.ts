import type { Transport } from "@connectrpc/connect";
import type { ValidationRulesAssignment } from "@scrip/proto/scrip/common/v1/validation_rules_assignment_pb";
import {
  type AssignmentsQuery,
  type AssignRulesOutcome,
  type RevokeRulesItem,
  type AssignRulesItem,
  type ValidationRule,
  ValidationRuleService,
} from "@scrip/proto/scrip/validation/v1/rules_pb";
import { type Call, clientOf, createCoalescer, serviceCall } from "@scrip/rpc";

/** Validation rule assignments; calls of concurrent requests are sent together. */
export type ValidationRules = {
  /** Assigns all rules of the object, or none when one of them is unknown. */
  assign(item: AssignRulesItem): Promise<AssignRulesOutcome>;
  /** Deletes all assignments of the object. */
  revoke(item: RevokeRulesItem): Promise<void>;
  /** Throws `not_found` when no rule has this id. */
  load(id: string, call: Call): Promise<ValidationRule>;
  /** Rules whose conditions name this id: some of them and their total. */
  referencing(
    id: string,
    call: Call,
  ): Promise<{ readonly ruleIds: string[]; readonly total: bigint }>;
  /** Assignments by object id, oldest first. */
  find(
    projectId: string,
    objectIds: readonly string[],
  ): Promise<ReadonlyMap<string, readonly ValidationRulesAssignment[]>>;
};

const BATCH = { lanes: 2, maxBatch: 500, maxWaiting: 10_000 };

/** A page of 100 vouchers and their campaigns. */
const MAX_OBJECTS = 200;

export function createValidationRulesClient(transport: Transport): ValidationRules {
  const client = clientOf(ValidationRuleService, transport);
  const lookUp = createCoalescer<AssignmentsQuery, readonly ValidationRulesAssignment[]>({
    ...BATCH,
    async send(queries) {
      const request = {
        $typeName: "scrip.validation.v1.ResolveAssignmentsRequest" as const,
        queries: [...queries],
      };
      const { results } = await client.resolveAssignments(request, serviceCall());
      return results.map(({ assignments }) => assignments);
    },
  });
  return {
    assign: createCoalescer<AssignRulesItem, AssignRulesOutcome>({
      ...BATCH,
      async send(items) {
        const request = {
          $typeName: "scrip.validation.v1.AssignRulesRequest" as const,
          items: [...items],
        };
        return (await client.assignRules(request, serviceCall())).outcomes;
      },
    }),
    revoke: createCoalescer<RevokeRulesItem, void>({
      ...BATCH,
      async send(items) {
        await client.revokeRules(
          { $typeName: "scrip.validation.v1.RevokeRulesRequest" as const, items: [...items] },
          serviceCall(),
        );
        return items.map(() => undefined);
      },
    }),
    load: (validationRuleId, call) =>
      client.getValidationRule({ validationRuleId }, { ...call, idempotency: undefined }),
    referencing: (id, call) => client.listRulesReferencing({ id }, call),
    async find(projectId, objectIds) {
      const lookups = Array.from({ length: Math.ceil(objectIds.length / MAX_OBJECTS) }, (_, at) =>
        lookUp({
          $typeName: "scrip.validation.v1.AssignmentsQuery",
          projectId,
          relatedObjectIds: objectIds.slice(at * MAX_OBJECTS, (at + 1) * MAX_OBJECTS),
        }),
      );
      const found = (await Promise.all(lookups)).flat();
      return Map.groupBy(found, ({ relatedObjectId }) => relatedObjectId);
    },
  };
}
