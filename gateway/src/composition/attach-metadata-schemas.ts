import { schemasToJson } from "@scrip/metadata";

import type { CompileStep, MessageFields } from "./step.ts";

/** Jobs enforce the schemas later, when they read the items: they get those of the time of the request. */
export const attachMetadataSchemasStep: CompileStep = ({ rpc }, { findSchemas }) => {
  const field = rpc.input.fields.find(({ name }) => name === "metadata_schemas");
  if (field === undefined) return undefined;
  return (next) => async (message, call) => {
    const schemas = await findSchemas(call.project.id);
    if (schemas === undefined) return next(message, call);
    return next({ ...(message as MessageFields), [field.localName]: schemasToJson(schemas) }, call);
  };
};
