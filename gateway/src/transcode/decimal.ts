import { isDecimal } from "@scrip/contract";

/** The shortest plain notation of a decimal, or undefined when the text is not a decimal. */
export function parseDecimal(text: string): string | undefined {
  const plain = text.includes("e") || text.includes("E") ? withoutExponent(text) : text;
  if (plain === undefined) return undefined;
  const match = /^(-?)(\d{1,40})(?:\.(\d{1,40}))?$/.exec(plain);
  if (match === null) return undefined;
  const whole = (match[2] ?? "").replace(/^0+(?=\d)/, "");
  const fraction = (match[3] ?? "").replace(/0+$/, "");
  const digits = fraction === "" ? whole : `${whole}.${fraction}`;
  const decimal = digits === "0" ? digits : `${match[1] ?? ""}${digits}`;
  return isDecimal(decimal) ? decimal : undefined;
}

/** Expands exponents, with which JavaScript prints some numbers: `1.5e-7` is `0.00000015`. */
function withoutExponent(text: string): string | undefined {
  const match = /^(-?)(\d)(?:\.(\d{1,20}))?[eE]([+-]?\d{1,2})$/.exec(text);
  if (match === null) return undefined;
  const digits = (match[2] ?? "") + (match[3] ?? "");
  const point = 1 + Number(match[4]);
  const sign = match[1] ?? "";
  if (point <= 0) return `${sign}0.${"0".repeat(-point)}${digits}`;
  if (point >= digits.length) return `${sign}${digits.padEnd(point, "0")}`;
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}
