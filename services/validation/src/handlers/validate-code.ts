import { create } from "@bufbuild/protobuf";
import { type Session, SessionSchema } from "@scrip/proto/scrip/common/v1/session_pb";
import type {
  ValidateCodeRequest,
  ValidationService,
} from "@scrip/proto/scrip/validation/v1/validations_pb";
import type { Handlers } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { orderOfQuery } from "../mapping/short-order.ts";
import { validateSingleVoucher } from "../validation/validate-single-voucher.ts";

export const validateCode =
  (deps: Deps): Handlers<typeof ValidationService>["validateCode"] =>
  (request, call) => {
    const { order: _, session: __, ...sent } = request;
    return validateSingleVoucher(deps, call, {
      ...sent,
      ...orderOfQuery(request),
      ...sessionOfQuery(request),
    });
  };

/** The session of a query, which can also contain its parts directly; `session` takes precedence. */
function sessionOfQuery(request: ValidateCodeRequest): { session?: Session } {
  const { session, sessionType, sessionKey: key, sessionTtl: ttl, sessionTtlUnit } = request;
  if (session !== undefined) return { session };
  const parts = [sessionType, key, ttl, sessionTtlUnit];
  if (parts.every((part) => part === undefined)) return {};
  return {
    session: create(SessionSchema, {
      type: sessionType ?? "LOCK",
      ...(key !== undefined && { key }),
      ...(ttl !== undefined && { ttl }),
      ...(sessionTtlUnit !== undefined && { ttlUnit: sessionTtlUnit }),
    }),
  };
}
