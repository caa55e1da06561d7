import type { Message } from "@bufbuild/protobuf";
import { ApiError, toErrorResponse } from "@scrip/errors";
import type { Customer } from "@scrip/proto/scrip/common/v1/customer_pb";
import type { Error as ErrorMessage } from "@scrip/proto/scrip/common/v1/error_pb";
import type { Session } from "@scrip/proto/scrip/common/v1/session_pb";

import type { CodeGuessing, CodeRequest } from "./code-guessing.ts";
import { type CodeLookups, isUnknownCode } from "./code-lookups.ts";

/** The caller guessed codes and is blocked for a time. */
export class CodeGuesserBlocked extends ApiError {
  readonly retryAfterSeconds: number;

  constructor(blockedMs: number) {
    super("too_many_requests", { details: "Too many unknown codes" });
    this.retryAfterSeconds = Math.ceil(blockedMs / 1_000);
  }
}

/** Rejects a caller that guessed codes, before any lookup: valid codes too, which it could tell apart otherwise. */
export function rejectGuesser(guessing: CodeGuessing, request: CodeRequest): void {
  const ms = guessing.blockedFor(request);
  if (ms > 0) throw new CodeGuesserBlocked(ms);
}

/** Runs the call of a request that names codes, and counts those that do not exist. */
export async function countMisses<Response extends Message>(
  guessing: CodeGuessing,
  { request, lookups }: { readonly request: CodeRequest; readonly lookups: CodeLookups },
  call: () => Promise<Response>,
): Promise<Response> {
  try {
    const response = await call();
    const counted = guessing.count(request, lookups.missesIn(response));
    if (counted !== undefined) await counted;
    return response;
  } catch (thrown) {
    const { error, unexpected } = toErrorResponse(thrown, "");
    if (!unexpected) await guessing.count(request, isMiss(error, request) ? 1 : 0);
    throw thrown;
  }
}

/** Client-side callers may only know codes of their customer: that of another one is a miss for them. */
const isMiss = (error: ErrorMessage, { side }: CodeRequest): boolean =>
  isUnknownCode(error) || (side === "client" && error.key === "invalid_customer");

type NamesCaller = Message & {
  readonly customer?: Customer | string;
  readonly session?: Session;
};

/** Customer and session in the request, whose misses are counted too. */
export function namedIn(message: Message): Pick<CodeRequest, "customer" | "session"> {
  const { customer, session } = message as NamesCaller;
  const named = typeof customer === "object" ? customer.id || customer.sourceId : undefined;
  return { customer: named || undefined, session: session?.key || undefined };
}
