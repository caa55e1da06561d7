import type { ExportParameters } from "@scrip/proto/scrip/export/v1/exports_pb";

import type { ParametersInput } from "../export/parameters.ts";

/** `order` beside the parameters counts when they have none. */
export const parametersFromProto = (
  parameters: ExportParameters | undefined,
  order?: string,
): ParametersInput => ({
  order: parameters?.order ?? order,
  fields: parameters?.fields,
  filters: parameters?.filters,
});
