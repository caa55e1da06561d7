import type { Decimal } from "./decimal.ts";
import { roundHalfUp } from "./round.ts";

/** `percent` per cent of `amount`, rounded half up once: 12.5 % of 1004 is 126. */
export function percentOf(amount: bigint, percent: Decimal): bigint {
  return roundHalfUp(amount * percent.unscaled, 100n * 10n ** BigInt(percent.scale));
}
