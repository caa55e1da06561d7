import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { ApiError } from "@scrip/errors";
import { newRequestId } from "@scrip/ids";
import { ErrorSchema } from "@scrip/proto/scrip/common/v1/error_pb";
import { isTimeZone } from "@scrip/rules";

import { type Call, type Caller, REQUEST_DEADLINE_MS } from "./call.ts";

const NAMES = {
  project: "x-scrip-project",
  timeZone: "x-scrip-time-zone",
  firstWeekday: "x-scrip-first-weekday",
  caseInsensitive: "x-scrip-case-insensitive-codes",
  codeConfig: "x-scrip-code-config",
  now: "x-scrip-now",
  requestId: "x-scrip-request-id",
  caller: "x-scrip-caller",
  idempotencyKey: "x-scrip-idempotency-key",
  requestHash: "x-scrip-request-hash",
  rejection: "x-scrip-rejection-bin",
} as const;

/** Set on a response that repeats an earlier one. */
export const REPLAYED_HEADER = "x-scrip-replayed";

export function toHeaders(call: Call): Headers {
  const headers = new Headers({
    [NAMES.project]: call.project.id,
    [NAMES.timeZone]: call.project.timeZone,
    [NAMES.requestId]: call.requestId,
    [NAMES.now]: String(call.now),
    [NAMES.caller]: `${call.caller.side}:${call.caller.id}`,
  });
  const { firstWeekday } = call.project;
  if (firstWeekday !== undefined) headers.set(NAMES.firstWeekday, String(firstWeekday));
  if (!call.project.caseSensitiveCodes) headers.set(NAMES.caseInsensitive, "1");
  if (call.project.codeConfig !== undefined) {
    headers.set(NAMES.codeConfig, encodeURIComponent(call.project.codeConfig));
  }
  if (call.idempotency !== undefined) {
    headers.set(NAMES.idempotencyKey, encodeURIComponent(call.idempotency.key));
    headers.set(NAMES.requestHash, Buffer.from(call.idempotency.requestHash).toString("hex"));
    const { rejection } = call.idempotency;
    if (rejection !== undefined) {
      const bytes = Buffer.from(toBinary(ErrorSchema, rejection));
      headers.set(NAMES.rejection, bytes.toString("base64"));
    }
  }
  return headers;
}

/**
 * Reads the call from the headers of a gRPC request. External services send only the project id;
 * clock, caller and request hash are read only from Scrip's own services.
 */
export function fromHeaders(
  headers: Headers,
  trust: { readonly internal: boolean; readonly callerName: string },
  clock: { readonly now: number; readonly timeoutMs: number | undefined },
): Call {
  const now = trust.internal ? headers.get(NAMES.now) : null;
  const idempotencyKey = trust.internal ? headers.get(NAMES.idempotencyKey) : null;
  // An external caller cannot override the project's code configuration.
  const codeConfig = trust.internal ? headers.get(NAMES.codeConfig) : null;
  return {
    project: {
      id: headers.get(NAMES.project) ?? "",
      timeZone: timeZoneOf(headers.get(NAMES.timeZone)),
      ...weekdayOf(headers.get(NAMES.firstWeekday)),
      caseSensitiveCodes: headers.get(NAMES.caseInsensitive) !== "1",
      ...(codeConfig !== null && { codeConfig: decodeHeader(codeConfig) }),
    },
    requestId: requestIdOf(headers.get(NAMES.requestId)),
    deadline: clock.now + Math.min(clock.timeoutMs ?? REQUEST_DEADLINE_MS, REQUEST_DEADLINE_MS),
    now: now === null ? clock.now : Number(now),
    caller: trust.internal
      ? callerOf(headers.get(NAMES.caller))
      : { side: "service", id: trust.callerName },
    ...(idempotencyKey !== null && {
      idempotency: {
        key: decodeHeader(idempotencyKey),
        requestHash: Buffer.from(headers.get(NAMES.requestHash) ?? "", "hex"),
        ...rejectionOf(headers.get(NAMES.rejection)),
      },
    }),
  };
}

/** An invalid weekday counts as absent. */
const weekdayOf = (text: string | null): { readonly firstWeekday?: number } =>
  text !== null && /^[0-6]$/.test(text) ? { firstWeekday: Number(text) } : {};

const rejectionOf = (text: string | null) =>
  text !== null && { rejection: fromBinary(ErrorSchema, Buffer.from(text, "base64")) };

const MAX_KEY_LENGTH = 255;
// Neither Postgres nor logs accept control characters in a key.
// oxlint-disable-next-line no-control-regex -- matches control characters
const CONTROL = /[\u0000-\u001f\u007f]/;

/** The idempotency key of an external caller; undefined without one. */
export function externalKey(headers: Headers): string | undefined {
  const text = headers.get(NAMES.idempotencyKey);
  if (text === null) return undefined;
  const key = decodeHeader(text);
  if (key.length > 0 && key.length <= MAX_KEY_LENGTH && !CONTROL.test(key)) return key;
  throw new ApiError("invalid_idempotency_key", {
    details: `Header ${NAMES.idempotencyKey} must have 1 to ${MAX_KEY_LENGTH} characters`,
  });
}

function decodeHeader(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new ApiError("invalid_payload", { details: "A header is not percent-encoded UTF-8" });
  }
}

function timeZoneOf(text: string | null): string {
  if (text === null || text === "") return "UTC";
  if (isTimeZone(text)) return text;
  throw new ApiError("invalid_payload", { details: `Unknown time zone ${text}` });
}

// Other text could break log lines or hide the caller.
const REQUEST_ID = /^v-[0-9a-f]{18}$/;

function requestIdOf(text: string | null): string {
  return text !== null && REQUEST_ID.test(text) ? text : newRequestId();
}

const SIDES: ReadonlySet<string> = new Set(["server", "client", "management", "service"]);

function callerOf(text: string | null): Caller {
  const [side = "", id = ""] = (text ?? "").split(":", 2);
  return SIDES.has(side)
    ? { side: side as Caller["side"], id }
    : { side: "service", id: "unknown" };
}
