import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import { notFound } from "@scrip/errors";
import type { StackingRulesService } from "@scrip/proto/scrip/validation/v1/stacking_rules_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { deleteStackingRules as removeStackingRules } from "../store/stacking-rules.ts";

export const deleteStackingRules =
  (deps: Deps): Handler<typeof StackingRulesService.method.deleteStackingRules> =>
  async ({ stackingRulesId }, { project }) => {
    const id = stackingRulesId === "" ? undefined : stackingRulesId;
    const found = await deps.definitions.write(project.id, (tx) =>
      removeStackingRules(tx, project.id, id),
    );
    if (!found) throw notFound("stacking_rules", id ?? project.id);
    return create(EmptySchema);
  };
