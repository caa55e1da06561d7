export { AUDIT_TOPIC, createHitRecorder, publishEntry, type StoreEntry } from "./audit.ts";
export { eraseResponses } from "./erase-responses.ts";
export { keyedHandlers, type Execution, type HandlerFactories } from "./keyed-handlers.ts";
export type { KeyedWork } from "./keyed-work.ts";
export { finalErrorOf } from "./outcome.ts";
export {
  changed,
  createdOrUpdated,
  deleted,
  isReceived,
  publishReceived,
  publishes,
  publishesItself,
  type PublishedChange,
} from "./resource-changes.ts";
export { reserveIds } from "./reserved-ids.ts";
export { STORED_REQUEST_TABLE } from "./stored-requests.ts";
