export { catalogue, codeOf, isKey, type Key } from "./catalogue.ts";
export {
  duplicate,
  inUse,
  invalidPayload,
  notFound,
  Refusal,
  type RefusalOptions,
  type RelatedObjects,
  toErrorMessage,
} from "./refusal.ts";
export { answerOf, type AnsweredError, refusalOf, toConnectError } from "./wire.ts";
