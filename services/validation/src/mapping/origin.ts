import type { Origin } from "@scrip/events";
import type { CommandCaller } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import type { Call } from "@scrip/rpc";

/**
 * The origin of the events of redemptions and paid orders. Only webhooks read it, so other projects do not store it:
 * these events are the most frequent ones.
 */
export const webhookOriginOf = ({
  project,
  requestId,
  caller,
  initiator,
}: Call): Origin | undefined =>
  project.webhookEvents === undefined ? undefined : { requestId, caller: initiator ?? caller };

/** The caller of a command, from which its events get their origin. */
export function callerToProto(call: Call): { readonly caller?: CommandCaller } {
  const origin = webhookOriginOf(call);
  if (origin === undefined) return {};
  return { caller: { $typeName: "scrip.voucher.v1.CommandCaller", ...origin.caller } };
}
