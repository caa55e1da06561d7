import type { MetadataValue } from "../../formula/value.ts";

/** Digits as text count as a number, as everywhere in the API. */
export function readDigits(sent: MetadataValue): MetadataValue {
  if (typeof sent !== "string" || !/^[0-9]{1,16}$/u.test(sent)) return sent;
  const number = Number(sent);
  return Number.isSafeInteger(number) ? number : sent;
}
