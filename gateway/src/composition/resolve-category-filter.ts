import { ruleOf } from "@scrip/contract";
import { ApiError } from "@scrip/errors";
import { Reference } from "@scrip/proto/scrip/options/v1/options_pb";

import type { CompileStep, MessageFields } from "./step.ts";

/** Services store category ids only, so the filter is rewritten to `category_id`. */
export const resolveCategoryFilterStep: CompileStep = ({ rpc }, { categories }) => {
  const filter = rpc.input.fields.find(
    (field) => ruleOf(field).reference === Reference.CATEGORY_FILTER,
  );
  if (filter === undefined || categories === undefined) return undefined;
  const id = rpc.input.fields.find(({ name }) => name === "category_id");
  if (id === undefined) throw new Error(`${filter.toString()} has no category_id beside it`);
  return (next) => async (message, call) => {
    const fields = message as MessageFields;
    const idOrName = fields[filter.localName] as string | undefined;
    if (idOrName === undefined || idOrName === "") return next(message, call);
    if (fields[id.localName] !== undefined) {
      throw new ApiError("invalid_query_params", {
        details: `Property .${filter.name} and .${id.name} exclude each other`,
      });
    }
    const category = await categories.existing(call.project.id, idOrName);
    // No object has an unknown id, so the list is empty.
    const resolved = { [filter.localName]: undefined, [id.localName]: category?.id ?? idOrName };
    return next({ ...fields, ...resolved }, call);
  };
};
