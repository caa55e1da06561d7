import { accessOf } from "@scrip/contract";
import { finalErrorOf } from "@scrip/idempotency";
import type { Error as ErrorMessage } from "@scrip/proto/scrip/common/v1/error_pb";
import { Idempotency } from "@scrip/proto/scrip/options/v1/options_pb";
import type { Call } from "@scrip/rpc";

import type { Invoke, Target } from "./step.ts";

/** The call that makes the owning service store this rejection as the response of the request's key. */
export const withRejection = ({ idempotency, ...call }: Call, rejection: ErrorMessage): Call => ({
  ...call,
  ...(idempotency !== undefined && { idempotency: { ...idempotency, rejection } }),
});

/**
 * Runs the steps that may reject a request before its service is called. A request with a key is then rejected by
 * the service, which stores the rejection, or returns the response of an earlier attempt that was not rejected.
 */
export function storeRejections(
  target: Target,
  { compose, invoke }: { readonly compose: (next: Invoke) => Invoke; readonly invoke: Invoke },
): Invoke {
  if (!storesRejection(target)) return compose(invoke);
  const settled = new WeakSet<object>();
  const composed = compose((message, call) =>
    invoke(message, call).catch((error: unknown) => {
      if (typeof error === "object" && error !== null) settled.add(error);
      throw error;
    }),
  );
  return async (message, call) => {
    try {
      return await composed(message, call);
    } catch (error) {
      if (call.idempotency === undefined || settled.has(error as object)) throw error;
      const rejection = finalErrorOf(error, call.requestId);
      if (rejection === undefined) throw error;
      return invoke(message, withRejection(call, rejection));
    }
  };
}

/** Redemptions and rollbacks store only what their commit decided. */
const storesRejection = ({ rpc, httpMethod }: Target): boolean =>
  httpMethod !== "GET" &&
  httpMethod !== "DELETE" &&
  accessOf(rpc)?.idempotency === Idempotency.UNSPECIFIED;
