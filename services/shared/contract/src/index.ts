export {
  type Binding,
  type Body,
  type HttpMethod,
  type Segment,
  type Side,
  bindingsOf,
  httpMethodsOf,
  isAudited,
  pathFieldsOf,
  requiredPathFieldsOf,
} from "./bindings.ts";
export { type Check, type CheckOptions, compileCheck } from "./check.ts";
export { isCalendarDay, isDecimal } from "./formats.ts";
export { createEncoders, type Encode } from "./json/encode.ts";
export { compileSteps, type EncodeInSteps } from "./json/encode-in-steps.ts";
export {
  accessOf,
  type EnumNames,
  enumNamesOf,
  errorKeysOf,
  jsonNameOf,
  rejectionKeysOf,
  ruleOf,
  shapeOf,
} from "./options.ts";
export { RESERVED_WORDS } from "./reserved-words.ts";
export { nanosBehindMs, parseTimestamp } from "./json/parse-timestamp.ts";
export { isSafeText, LIMITS, structViolation } from "./safety.ts";
export { type Violation, toDetails } from "./violation.ts";
