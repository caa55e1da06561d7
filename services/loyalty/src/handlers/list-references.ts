import type { EarningRuleService } from "@scrip/proto/scrip/loyalty/v1/earning_rules_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { findReferences } from "../store/references.ts";

export const listReferences =
  ({ db }: Deps): Handler<typeof EarningRuleService.method.listReferences> =>
  async ({ ids }, { project }) => {
    const { type, ids: found, total } = await findReferences(db, project.id, ids);
    return {
      $typeName: "scrip.loyalty.v1.ListReferencesResponse",
      type,
      ids: [...found],
      total,
    };
  };
