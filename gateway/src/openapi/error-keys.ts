import { type Binding, errorKeysOf } from "@scrip/contract";
import { catalogue, type ErrorKey, isErrorKey } from "@scrip/errors";

import { takesIdempotencyKey } from "./parameters.ts";

/** Keys that requests to an endpoint may be rejected with; `own` are those that its RPC declares. */
export type EndpointErrors = {
  readonly general: readonly ErrorKey[];
  readonly own: readonly ErrorKey[];
};

export function endpointErrorsOf(binding: Binding): EndpointErrors {
  const own = errorKeysOf(binding.method).map((key) => {
    if (isErrorKey(key)) return key;
    throw new Error(`${binding.method.name} declares the unknown error key ${key}`);
  });
  return { general: generalKeysOf(binding), own };
}

/** What the gateway rejects before the call, and failures that any call can end with. */
function generalKeysOf(binding: Binding): ErrorKey[] {
  const { side, body } = binding;
  const isScoped = side === "server" || side === "client";
  return [
    "invalid_payload",
    "invalid_query_params",
    ...when(takesIdempotencyKey(binding), "invalid_idempotency_key"),
    ...when(side !== "anyone", "unauthorized"),
    ...when(isScoped, "missing_required_permission"),
    ...when(isScoped || side === "key_only", "forbidden"),
    ...when(takesIdempotencyKey(binding), "idempotency_in_progress"),
    ...when(body !== "none", "payload_too_large", "unsupported_media_type"),
    ...when(takesIdempotencyKey(binding), "idempotency_key_reused"),
    "too_many_requests",
    "internal_error",
    "service_unavailable",
  ];
}

const when = (condition: boolean, ...keys: ErrorKey[]): ErrorKey[] => (condition ? keys : []);

/** Statuses in ascending order, each with the keys that are returned with it. */
export function keysByStatus(keys: Iterable<ErrorKey>): ReadonlyMap<number, readonly ErrorKey[]> {
  const byStatus = Map.groupBy(new Set(keys), (key) => catalogue[key].http as number);
  return new Map([...byStatus].toSorted(([one], [other]) => one - other));
}
