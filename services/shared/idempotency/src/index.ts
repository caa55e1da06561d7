export { startKeyExpiry } from "./expiry.ts";
export { keyedHandlers, type Execution, type HandlerFactories } from "./keyed-handlers.ts";
export type { KeyedWork } from "./keyed-work.ts";
export { finalErrorOf } from "./outcome.ts";
export {
  changed,
  createdOrUpdated,
  deleted,
  publishes,
  type PublishedChange,
} from "./resource-changes.ts";
export { reserveIds } from "./reserved-ids.ts";
