export { allocate } from "./allocate.ts";
export {
  type RoundingMode,
  addDecimals,
  compareDecimals,
  decimalOfNumber,
  decimalText,
  divideDecimals,
  fromMinorUnits,
  multiplyDecimals,
  negateDecimal,
  powerOf,
  remainderOf,
  roundDecimal,
  toMinorUnits,
  wholeOf,
} from "./arithmetic.ts";
export { type Decimal, parseDecimal } from "./decimal.ts";
export { percentIn, percentOf } from "./percent.ts";
export { roundHalfUp } from "./round.ts";
