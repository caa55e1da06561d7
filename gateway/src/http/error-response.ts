import { ApiError, errorToProto, toErrorResponse } from "@scrip/errors";
import { isUnavailable } from "@scrip/postgres";
import { ErrorSchema } from "@scrip/proto/scrip/common/v1/error_pb";
import { CodeGuesserBlocked, isOverloadError } from "@scrip/rpc";

import { BodilessError } from "../domain/bodiless-error.ts";
import { retryAfterSeconds } from "../limits/rate-limit-headers.ts";
import { createTranscoder } from "../transcode/index.ts";
import type { HttpResponse, RequestContext } from "./request-context.ts";
import { createRetrySpread } from "./retry-spread.ts";

/** Compiled, because rejections are as frequent as redemptions. */
export const encodeError = createTranscoder().encoderOf(ErrorSchema);

export const JSON_TYPE = "application/json; charset=utf-8";

/** An error with additional response headers. */
export class ApiErrorWithHeaders extends ApiError {
  readonly headers: readonly string[];

  constructor(key: ApiError["key"], options: ApiError["options"], headers: readonly string[]) {
    super(key, options);
    this.headers = headers;
  }
}

export type ErrorResponse = {
  readonly response: HttpResponse;
  readonly key: string;
  /** A bug or an outage, which is logged with its cause. */
  readonly unexpected: boolean;
};

/** Converts errors into responses (docs/errors.md#error-object). */
export function errorResponseOf(
  thrown: unknown,
  context: Pick<RequestContext, "requestId" | "allowance">,
): ErrorResponse {
  const cause = isUnavailable(thrown)
    ? new ApiError("service_unavailable", { cause: thrown })
    : thrown;
  const { error, unexpected } = toErrorResponse(cause, context.requestId);
  const isBodiless = cause instanceof BodilessError;
  return {
    response: {
      status: error.code,
      contentType: isBodiless ? undefined : JSON_TYPE,
      body: isBodiless ? undefined : encodeError(error),
      headers: isOverloadError(cause)
        ? ["Retry-After", String(overloadRetrySeconds())]
        : cause instanceof CodeGuesserBlocked
          ? ["Retry-After", String(cause.retryAfterSeconds)]
          : cause instanceof ApiErrorWithHeaders
            ? withDefaults(cause.headers, headersOf(error.code, error.key, context))
            : headersOf(error.code, error.key, context),
    },
    key: error.key,
    unexpected: unexpected || cause !== thrown,
  };
}

export type PreparedError = {
  readonly status: number;
  /** The JSON of the error, which is ASCII. */
  readonly bodyOf: (requestId: string) => string;
};

const prepared = new Map<ApiError, PreparedError>();

/** The response to an error that exists once and is thrown often, encoded in advance around the request id. */
export function preparedError(error: ApiError): PreparedError {
  const known = prepared.get(error);
  if (known !== undefined) return known;
  const message = errorToProto(error, PLACEHOLDER);
  const [before = "", after = ""] = encodeError(message).split(PLACEHOLDER);
  const created = { status: message.code, bodyOf: (id: string) => before + id + after };
  prepared.set(error, created);
  return created;
}

const PLACEHOLDER = "v-000000000000000000";

/** `Retry-After` of a rejection by this process. */
export const overloadRetrySeconds = createRetrySpread({
  now: () => performance.now(),
  random: Math.random,
});

/** Name and value pairs of both; a header of the error replaces the default of that name. */
const withDefaults = (own: readonly string[], defaults: readonly string[]): readonly string[] => [
  ...defaults.filter((_, at) => !own.includes(defaults[at - (at % 2)] ?? "")),
  ...own,
];

function headersOf(
  status: number,
  key: string,
  { allowance }: Pick<RequestContext, "allowance">,
): readonly string[] {
  switch (status) {
    case 401:
      return ["WWW-Authenticate", "Bearer"];
    case 409:
      return key === "idempotency_in_progress" ? ["Retry-After", "1"] : [];
    case 429: {
      const seconds = allowance?.exhausted === true ? retryAfterSeconds(allowance) : 1;
      return ["Retry-After", String(seconds)];
    }
    case 503:
      return ["Retry-After", "1"];
    default:
      return [];
  }
}
