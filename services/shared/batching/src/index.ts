export { type BatcherOptions, createBatcher, type OverloadLimits } from "./batcher.ts";
