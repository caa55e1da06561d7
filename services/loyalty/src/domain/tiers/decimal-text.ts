import type { Decimal } from "@scrip/money";

/** An exact decimal as text, such as "1.5". */
export function decimalToText({ unscaled, scale }: Decimal): string {
  const digits = String(unscaled).padStart(scale + 1, "0");
  return scale === 0 ? digits : `${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}
