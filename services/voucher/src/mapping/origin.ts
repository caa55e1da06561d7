import type { Origin, OriginCaller } from "@scrip/events";
import type { RedemptionCommand } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";

/** The origin of the events of a command; undefined when its project has neither webhooks nor earning rules. */
export const originFromProto = ({
  requestId,
  caller,
}: Pick<RedemptionCommand, "requestId" | "caller">): Origin | undefined =>
  caller && {
    requestId,
    caller: { ...caller, side: caller.side as OriginCaller["side"] },
    project: { version: caller.projectVersion },
  };
