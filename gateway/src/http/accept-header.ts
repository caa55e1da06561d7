import { ApiError } from "@scrip/errors";

/** From the most specific on: the first that is named decides. */
const RANGES = ["application/json", "application/*", "*/*"];

/** What clients really send, so that it need not be taken apart each time. */
const COMMON_VALUES: ReadonlySet<string> = new Set([
  "*/*",
  "application/json",
  "application/json, text/plain, */*",
]);

/** Refuses callers who say that they cannot read JSON (RFC 9110 §12.5.1); who says nothing can. */
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
