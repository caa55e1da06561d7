import type { CommandCaller } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import { type Call, webhookOriginOf } from "@scrip/rpc";

/** The caller of a command, from which its events get their origin. */
export function callerToProto(call: Call): { readonly caller?: CommandCaller } {
  const origin = webhookOriginOf(call);
  if (origin === undefined) return {};
  return { caller: { $typeName: "scrip.voucher.v1.CommandCaller", ...origin.caller } };
}
