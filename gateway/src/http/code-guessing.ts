import type { Message } from "@bufbuild/protobuf";
import { toErrorResponse } from "@scrip/errors";
import type { Customer } from "@scrip/proto/scrip/common/v1/customer_pb";
import type { Error as ErrorMessage } from "@scrip/proto/scrip/common/v1/error_pb";
import type { Session } from "@scrip/proto/scrip/common/v1/session_pb";

import { limitAddress } from "../auth/ip-addresses.ts";
import type { CodeGuessing, CodeRequest } from "../limits/code-guessing.ts";
import { type CodeLookups, isUnknownCode } from "./code-lookups.ts";
import { ApiErrorWithHeaders } from "./error-response.ts";
import type { RequestContext } from "./request-context.ts";

/** Rejects a caller that guessed codes, before any lookup: valid codes too, which it could tell apart otherwise. */
export function rejectGuesser(guessing: CodeGuessing, request: CodeRequest): void {
  const ms = guessing.blockedFor(request);
  if (ms === 0) return;
  throw new ApiErrorWithHeaders("too_many_requests", { details: "Too many unknown codes" }, [
    "Retry-After",
    String(Math.ceil(ms / 1_000)),
  ]);
}

/** Runs the call of a request that names codes, and counts those that do not exist. */
export async function countMisses(
  guessing: CodeGuessing,
  { request, lookups }: { readonly request: CodeRequest; readonly lookups: CodeLookups },
  call: () => Promise<Message>,
): Promise<Message> {
  try {
    const response = await call();
    guessing.count(request, lookups.missesIn(response));
    return response;
  } catch (thrown) {
    const { error, unexpected } = toErrorResponse(thrown, "");
    if (!unexpected) guessing.count(request, isMiss(error, request) ? 1 : 0);
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

/** Undefined for callers without a key, such as management. */
export function codeRequestOf(
  { principal, address }: RequestContext,
  message: Message,
): CodeRequest | undefined {
  if (principal === undefined) return undefined;
  const { customer, session } = message as NamesCaller;
  const named = typeof customer === "object" ? customer.id || customer.sourceId : undefined;
  return {
    projectId: principal.project.id,
    keyId: principal.keyId,
    side: principal.kind,
    address: limitAddress(address),
    customer: named || undefined,
    session: session?.key || undefined,
  };
}
