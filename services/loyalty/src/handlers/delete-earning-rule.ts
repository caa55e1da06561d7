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
    await deps.definitions.write(project.id, async (tx) => {
      const rule = await remove(tx, { projectId: project.id, campaignId, id });
      if (rule === undefined) throw notFound("earning_rule", id);
    });
    return create(EmptySchema);
  };
