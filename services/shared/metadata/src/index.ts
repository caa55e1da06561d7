export { metadataFaults, type Schemas, type Submission } from "./metadata-check.ts";
export { readCell } from "./metadata-cell.ts";
export type { Definition, Definitions, MetadataSchema, MetadataType } from "./metadata-types.ts";
export { lengthOf, rankOf, typeFaultOf } from "./metadata-value.ts";
export { schemasFromJson, schemasToJson } from "./schemas-json.ts";
