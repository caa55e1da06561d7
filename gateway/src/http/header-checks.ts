import type { IncomingMessage } from "node:http";

import { ApiError } from "@scrip/errors";

/**
 * Headers that must not be repeated. Node uses the first of two values where a proxy in front may
 * have used the second; other repeated headers it joins, which no credential survives.
 */
const SINGLE_HEADERS: ReadonlySet<string> = new Set(["host", "authorization", "content-type"]);

/** Rejects headers that Node accepts, but that two readers could interpret differently. */
export function rejectMalformedHeaders({
  headers,
  httpVersion,
  rawHeaders,
}: IncomingMessage): void {
  // Required by RFC 9112 section 3.2; a missing Host may indicate request smuggling.
  if (headers.host === undefined && httpVersion === "1.1") throw invalid("host is required");
  const repeated = firstRepeated(rawHeaders);
  if (repeated !== undefined) throw invalid(`${repeated} must not be repeated`);
  const { expect } = headers;
  if (expect !== undefined && !/^100-continue$/i.test(expect)) {
    throw new ApiError("expectation_failed", { details: "Header expect must be 100-continue" });
  }
}

/** Names and values alternate in `rawHeaders`. */
function firstRepeated(rawHeaders: readonly string[]): string | undefined {
  let seen = "";
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] as string).toLowerCase();
    if (!SINGLE_HEADERS.has(name)) continue;
    if (seen.includes(name)) return name;
    seen += ` ${name}`;
  }
  return undefined;
}

const invalid = (details: string): ApiError =>
  new ApiError("invalid_payload", { details: `Header ${details}` });
