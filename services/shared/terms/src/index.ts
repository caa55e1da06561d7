export {
  discountDefinition,
  discountFromJson,
  discountToJson,
  readDiscount,
  type ReadDiscount,
  toDiscount,
} from "./discount.ts";
export { instantOf, timestampOf, toInstant, toTimestamp } from "./instants.ts";
export { nameOf } from "./names.ts";
export { changedValidity, validityFields, type ValidityFields, validityOf } from "./validity.ts";
