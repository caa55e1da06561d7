import type { IncomingMessage } from "node:http";

import { ApiError } from "@scrip/errors";

/**
 * What these say decides something, and of two of them Node takes the first: a proxy in front of us
 * may have taken the second. All others it joins, and what is joined is no credential of anybody.
 */
const SINGLE_HEADERS: ReadonlySet<string> = new Set(["host", "authorization", "content-type"]);

/** Refuses what Node lets through for us to answer, and what two readers could read differently. */
export function rejectMalformedHeaders({
  headers,
  httpVersion,
  rawHeaders,
}: IncomingMessage): void {
  // RFC 9112 §3.2: whoever leaves it out in HTTP/1.1 is broken, or is playing a trick.
  if (headers.host === undefined && httpVersion === "1.1") throw invalid("host is required");
  const repeated = firstRepeated(rawHeaders);
  if (repeated !== undefined) throw invalid(`${repeated} must be given once`);
  const { expect } = headers;
  if (expect !== undefined && !/^100-continue$/i.test(expect)) {
    throw new ApiError("expectation_failed", { details: "Header expect must be 100-continue" });
  }
}

/** Every second entry is a name. */
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
