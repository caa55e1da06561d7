export { allocate } from "./allocate.ts";
export { type Decimal, parseDecimal } from "./decimal.ts";
export { percentOf } from "./percent.ts";
export { roundHalfUp } from "./round.ts";
