import type { Transport } from "@connectrpc/connect";
import type { ValidationRulesAssignment } from "@scrip/proto/scrip/common/v1/validation_rules_assignment_pb";
import {
  type AssignmentsQuery,
  type AssignRulesOutcome,
  type RevokeRulesItem,
  type AssignRulesItem,
  ValidationRuleService,
} from "@scrip/proto/scrip/validation/v1/rules_pb";
import { type Call, clientOf, createCoalescer, serviceCall } from "@scrip/rpc";

/** Assigns validation rules for requests and looks them up for answers, many at a time. */
export type ValidationRules = {
  /** All rules of the object or, when one of them is unknown, none. */
  assign(item: AssignRulesItem): Promise<AssignRulesOutcome>;
  /** Takes all rules away from an object that was not made after all. */
  revoke(item: RevokeRulesItem): Promise<void>;
  /** Some of the rules that name something by its id, and how many there are. */
  naming(id: string, call: Call): Promise<{ readonly ruleIds: string[]; readonly total: bigint }>;
  /** The assignments of objects, oldest first. */
  find(
    projectId: string,
    objectIds: readonly string[],
  ): Promise<ReadonlyMap<string, readonly ValidationRulesAssignment[]>>;
};

const BATCH = { lanes: 2, maxBatch: 500, maxWaiting: 10_000 };

/** As many as a page has vouchers, twice: for their campaigns. */
const MAX_OBJECTS = 200;

export function createValidationRulesClient(transport: Transport): ValidationRules {
  const client = clientOf(ValidationRuleService, transport);
  const ask = createCoalescer<AssignmentsQuery, readonly ValidationRulesAssignment[]>({
    ...BATCH,
    async send(queries) {
      const request = {
        $typeName: "scrip.validation.v1.ResolveAssignmentsRequest" as const,
        queries: [...queries],
      };
      const { results: answers } = await client.resolveAssignments(request, serviceCall());
      return answers.map(({ assignments }) => assignments);
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
    naming: (id, call) => client.listRulesReferencing({ id }, call),
    async find(projectId, objectIds) {
      const questions = Array.from({ length: Math.ceil(objectIds.length / MAX_OBJECTS) }, (_, at) =>
        ask({
          $typeName: "scrip.validation.v1.AssignmentsQuery",
          projectId,
          relatedObjectIds: objectIds.slice(at * MAX_OBJECTS, (at + 1) * MAX_OBJECTS),
        }),
      );
      const found = (await Promise.all(questions)).flat();
      return Map.groupBy(found, ({ relatedObjectId }) => relatedObjectId);
    },
  };
}
