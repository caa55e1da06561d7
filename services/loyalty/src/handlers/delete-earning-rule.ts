import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import { notFound } from "@scrip/errors";
import type { EarningRuleService } from "@scrip/proto/scrip/loyalty/v1/earning_rules_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { deleteEarningRule as remove } from "../store/earning-rules.ts";

export const deleteEarningRule =
  (deps: Deps): Handler<typeof EarningRuleService.method.deleteEarningRule> =>
  async ({ campaignId, earningRuleId: id }, { project }) => {
    const deleted = await deps.definitions.write(project.id, (tx) =>
      remove(tx, { projectId: project.id, campaignId, id }),
    );
    if (!deleted) throw notFound("earning_rule", id);
    return create(EmptySchema);
  };
