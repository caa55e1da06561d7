import { CategoryService } from "@scrip/proto/scrip/campaign/v1/categories_pb";

import type { CompileStep } from "./step.ts";

export const evictCachedCategoriesStep: CompileStep = ({ rpc, httpMethod }, { categories }) => {
  const isWrite = rpc.parent.typeName === CategoryService.typeName && httpMethod !== "GET";
  if (!isWrite || categories === undefined) return undefined;
  return (next) => async (message, call) => {
    const response = await next(message, call);
    categories.evict(call.project.id);
    return response;
  };
};
