import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { ApiError } from "@scrip/errors";
import { newRequestId } from "@scrip/ids";
import { ErrorSchema } from "@scrip/proto/scrip/common/v1/error_pb";

import { type Call, type Caller, REQUEST_DEADLINE_MS } from "./call.ts";

const NAMES = {
  project: "x-scrip-project",
  projectVersion: "x-scrip-project-version",
  now: "x-scrip-now",
  requestId: "x-scrip-request-id",
  caller: "x-scrip-caller",
  initiator: "x-scrip-initiator",
  idempotencyKey: "x-scrip-idempotency-key",
  requestHash: "x-scrip-request-hash",
  rejection: "x-scrip-rejection-bin",
} as const;

/** Set on a response that repeats an earlier one. */
export const REPLAYED_HEADER = "x-scrip-replayed";

/** The headers of a received call. */
export type ReceivedHeaders = Pick<Headers, "get">;

/** A call as it arrives: its project's settings come from the replica of the service, not from headers. */
export type ReceivedCall = Omit<Call, "project" | "now"> & {
  readonly projectId: string;
  /** The version of the project that the caller has seen. */
  readonly projectVersion: bigint | undefined;
  /** The time that the caller's request fixed; undefined: the request starts here. */
  readonly now: number | undefined;
};

export function toHeaders(call: Call): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {
    [NAMES.project]: call.project.id,
    [NAMES.requestId]: call.requestId,
    [NAMES.now]: String(call.now),
    [NAMES.caller]: callerToText(call.caller),
  };
  if (call.initiator !== undefined) headers[NAMES.initiator] = callerToText(call.initiator);
  const { version } = call.project;
  if (version !== undefined) headers[NAMES.projectVersion] = String(version);
  if (call.idempotency !== undefined) {
    headers[NAMES.idempotencyKey] = encodeURIComponent(call.idempotency.key);
    headers[NAMES.requestHash] = Buffer.from(call.idempotency.requestHash).toString("hex");
    const { rejection } = call.idempotency;
    if (rejection !== undefined) {
      headers[NAMES.rejection] = Buffer.from(toBinary(ErrorSchema, rejection)).toString("base64");
    }
  }
  return headers;
}

/**
 * Reads the call from the headers of a gRPC request. External services send only the project id;
 * clock, project version, caller and request hash are read only from Scrip's own services.
 */
export function fromHeaders(
  headers: ReceivedHeaders,
  trust: { readonly internal: boolean; readonly callerName: string },
  clock: { readonly now: number; readonly timeoutMs: number | undefined },
): ReceivedCall {
  const internal = (name: string): string | null => (trust.internal ? headers.get(name) : null);
  const idempotencyKey = internal(NAMES.idempotencyKey);
  const initiator = internal(NAMES.initiator);
  return {
    projectId: headers.get(NAMES.project) ?? "",
    projectVersion: versionOf(internal(NAMES.projectVersion)),
    requestId: requestIdOf(headers.get(NAMES.requestId)),
    deadline: clock.now + Math.min(clock.timeoutMs ?? REQUEST_DEADLINE_MS, REQUEST_DEADLINE_MS),
    now: timeOf(internal(NAMES.now)),
    caller: trust.internal
      ? callerFromText(headers.get(NAMES.caller))
      : { side: "service", id: trust.callerName },
    ...(initiator !== null && { initiator: callerFromText(initiator) }),
    ...(idempotencyKey !== null && {
      idempotency: {
        key: decodeHeader(idempotencyKey),
        requestHash: Buffer.from(headers.get(NAMES.requestHash) ?? "", "hex"),
        ...rejectionOf(headers.get(NAMES.rejection)),
      },
    }),
  };
}

/** Malformed versions and times count as absent. */
const versionOf = (text: string | null): bigint | undefined =>
  text !== null && /^\d{1,18}$/.test(text) ? BigInt(text) : undefined;

const timeOf = (text: string | null): number | undefined =>
  text !== null && /^-?\d{1,15}$/.test(text) ? Number(text) : undefined;

const rejectionOf = (text: string | null) =>
  text !== null && { rejection: fromBinary(ErrorSchema, Buffer.from(text, "base64")) };

const MAX_KEY_LENGTH = 255;
// Neither Postgres nor logs accept control characters in a key.
// oxlint-disable-next-line no-control-regex -- matches control characters
const CONTROL = /[\u0000-\u001f\u007f]/;

/** The idempotency key of an external caller; undefined without one. */
export function externalKey(headers: ReceivedHeaders): string | undefined {
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

// Other text could break log lines or hide the caller.
const REQUEST_ID = /^v-[0-9a-f]{18}$/;

function requestIdOf(text: string | null): string {
  return text !== null && REQUEST_ID.test(text) ? text : newRequestId();
}

const SIDES: ReadonlySet<string> = new Set(["server", "client", "management", "service"]);

// Processes of an earlier release neither send nor read the name.
const callerToText = ({ side, id, name }: Caller): string =>
  name === undefined ? `${side}:${id}` : `${side}:${id}:${encodeURIComponent(name)}`;

function callerFromText(text: string | null): Caller {
  const [side = "", id = "", name] = (text ?? "").split(":", 3);
  if (!SIDES.has(side)) return { side: "service", id: "unknown" };
  return {
    side: side as Caller["side"],
    id,
    ...(name !== undefined && { name: decodeHeader(name) }),
  };
}
