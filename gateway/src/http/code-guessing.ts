import type { Message } from "@bufbuild/protobuf";
import { type CodeRequest, namedIn } from "@scrip/rpc";

import { limitAddress } from "../auth/ip-addresses.ts";
import type { RequestContext } from "./request-context.ts";

/** Undefined for callers without a key, such as management. */
export function codeRequestOf(
  { principal, address, requestId }: RequestContext,
  message: Message,
): CodeRequest | undefined {
  if (principal === undefined) return undefined;
  return {
    projectId: principal.project.id,
    keyId: principal.keyId,
    callerId: principal.keyId,
    requestId,
    side: principal.kind,
    address: limitAddress(address),
    ...namedIn(message),
  };
}
