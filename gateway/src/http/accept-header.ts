import { ApiError } from "@scrip/errors";

/** Most specific first; the first range that is present decides. */
const RANGES = ["application/json", "application/*", "*/*"];

/** Common values, accepted without parsing. */
const COMMON_VALUES: ReadonlySet<string> = new Set([
  "*/*",
  "application/json",
  "application/json, text/plain, */*",
]);

/**
 * Rejects requests that do not accept JSON (RFC 9110 section 12.5.1). A missing header accepts
 * everything.
 */
export function requireJsonAccepted(accept: string | undefined): void {
  if (accept === undefined || accept === "" || COMMON_VALUES.has(accept)) return;
  const named = new Map(accept.split(",").map(rangeOf));
  const weight = RANGES.flatMap((range) => named.get(range) ?? []).at(0);
  if (weight !== undefined && weight > 0) return;
  throw new ApiError("not_acceptable", { details: "Accept must allow application/json" });
}

function rangeOf(range: string): readonly [string, number] {
  const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
  const weight = parameters.find((parameter) => parameter.startsWith("q="));
  return [type, weight === undefined ? 1 : Number(weight.slice("q=".length))];
}
