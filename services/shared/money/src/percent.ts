import { compareDecimals } from "./arithmetic.ts";
import type { Decimal } from "./decimal.ts";
import { roundHalfUp } from "./round.ts";

/** `percent` per cent of `amount`, rounded half up once: 12.5 % of 1004 is 126. */
export function percentOf(amount: bigint, percent: Decimal): bigint {
  return roundHalfUp(amount * percent.unscaled, 100n * 10n ** BigInt(percent.scale));
}

const NOTHING: Decimal = { unscaled: 0n, scale: 0 };
const ALL: Decimal = { unscaled: 100n, scale: 0 };

/** The nearest percentage from 0 to 100. */
export function percentIn(value: Decimal): Decimal {
  if (compareDecimals(value, NOTHING) < 0) return NOTHING;
  return compareDecimals(value, ALL) > 0 ? ALL : value;
}
