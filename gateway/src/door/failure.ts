import { toErrorResponse, ApiError } from "@scrip/errors";
import { isUnavailable } from "@scrip/postgres";
import { ErrorSchema } from "@scrip/proto/scrip/common/v1/error_pb";

import { SilentRefusal } from "../domain/silent-refusal.ts";
import { retryAfterSeconds } from "../limits/headers.ts";
import { createTranscoder } from "../transcode/index.ts";
import type { Answer, Exchange } from "./exchange.ts";

/** As the contract writes it; refusals are as frequent as redemptions, so compiled like them. */
export const encodeError = createTranscoder().encoderOf(ErrorSchema);

export const JSON_TYPE = "application/json; charset=utf-8";

/** Thrown with the headers that its answer needs. */
export class RefusalWithHeaders extends ApiError {
  readonly headers: readonly string[];

  constructor(key: ApiError["key"], options: ApiError["options"], headers: readonly string[]) {
    super(key, options);
    this.headers = headers;
  }
}

export type Failure = {
  readonly answer: Answer;
  readonly key: string;
  /** A bug or an outage: to be logged with its cause. */
  readonly unexpected: boolean;
};

/** The only place that turns what was thrown into an answer (spec/rulings.md 11). */
export function failureOf(
  thrown: unknown,
  exchange: Pick<Exchange, "requestId" | "allowance">,
): Failure {
  const cause = isUnavailable(thrown)
    ? new ApiError("service_unavailable", { cause: thrown })
    : thrown;
  const { error, unexpected } = toErrorResponse(cause, exchange.requestId);
  const silent = cause instanceof SilentRefusal;
  return {
    answer: {
      status: error.code,
      contentType: silent ? undefined : JSON_TYPE,
      body: silent ? undefined : encodeError(error),
      headers: [
        ...headersOf(error.code, error.key, exchange),
        ...(cause instanceof RefusalWithHeaders ? cause.headers : []),
      ],
    },
    key: error.key,
    unexpected: unexpected || cause !== thrown,
  };
}

function headersOf(
  status: number,
  key: string,
  { allowance }: Pick<Exchange, "allowance">,
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
