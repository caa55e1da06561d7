import { notFound } from "@scrip/errors";
import type { StackingRulesService } from "@scrip/proto/scrip/validation/v1/stacking_rules_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { referencedCategories } from "../domain/stacking/stacking-rules.ts";
import { projectStackingRulesToProto, updatedStackingOptions } from "../mapping/stacking-rules.ts";
import { rejectContradiction, rejectUnknownCategories } from "../rules/stacking-options.ts";
import {
  findStackingRules,
  lockStackingRules,
  updateStackingRules as writeStackingRules,
} from "../store/stacking-rules.ts";

export const updateStackingRules =
  (deps: Deps): Handler<typeof StackingRulesService.method.updateStackingRules> =>
  async (request, call) => {
    const projectId = call.project.id;
    const id = request.stackingRulesId === "" ? undefined : request.stackingRulesId;
    const stored = await findStackingRules(deps.db, projectId);
    // Stored category ids are not checked again: their categories may have been deleted since.
    const known = new Set(referencedCategories(stored?.options ?? {}));
    const sent = referencedCategories(updatedStackingOptions({}, request));
    await rejectUnknownCategories(
      deps,
      call,
      sent.filter((category) => !known.has(category)),
    );

    const updated = await deps.definitions.write(projectId, async (tx) => {
      const before = await lockStackingRules(tx, projectId, id);
      if (before === undefined) throw notFound("stacking_rules", id ?? projectId);
      const options = updatedStackingOptions(before.options, request);
      rejectContradiction(options);
      const row = { ...before, options, updated_at: new Date(call.now) };
      await writeStackingRules(tx, projectId, row);
      return row;
    });
    return projectStackingRulesToProto(updated);
  };
