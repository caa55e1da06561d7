export { catalogue, codeOf, isKey, type Key } from "./catalogue.ts";
export {
  duplicate,
  invalidPayload,
  notFound,
  Refusal,
  type RefusalOptions,
  toErrorMessage,
} from "./refusal.ts";
export { answerOf, type AnsweredError, refusalOf, toConnectError } from "./wire.ts";
