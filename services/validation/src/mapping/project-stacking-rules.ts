import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type ProjectStackingRules,
  ProjectStackingRulesSchema,
} from "@scrip/proto/scrip/validation/v1/stacking_rules_pb";

import { stackingRulesOf } from "../domain/stacking/stacking-rules.ts";
import type { StackingRulesRow } from "../store/stacking-rules.ts";
import { stackingRulesToProto } from "./stacking-rules.ts";

export function projectStackingRulesToProto(row: StackingRulesRow): ProjectStackingRules {
  const { $typeName: _, ...options } = stackingRulesToProto(stackingRulesOf(row.options));
  return create(ProjectStackingRulesSchema, {
    ...options,
    id: row.id,
    createdAt: timestampFromDate(row.created_at),
    ...(row.updated_at !== null && { updatedAt: timestampFromDate(row.updated_at) }),
  });
}
