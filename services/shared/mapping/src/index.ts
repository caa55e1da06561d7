export { countFromProto, countToProto } from "./count.ts";
export { customerHoldings } from "./customer-holdings.ts";
export {
  discountFromJson,
  discountFromProto,
  discountToJson,
  discountToProto,
  type ParsedDiscountProto,
  parseDiscountProto,
} from "./discount.ts";
export { enumName } from "./enum-name.ts";
export {
  instantFromProto,
  instantToProto,
  optionalInstantFromProto,
  optionalInstantToProto,
} from "./instant.ts";
export { itemOutcome, rejectedItem } from "./item-outcome.ts";
export {
  mergeValidityUpdate,
  validityFromProto,
  type ValidityProto,
  validityToProto,
} from "./validity.ts";
