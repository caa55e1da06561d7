export { startKeyExpiry } from "./expiry.ts";
export { keyedHandlers, type Execution, type HandlerFactories } from "./keyed-handlers.ts";
export type { KeyedWork } from "./keyed-work.ts";
