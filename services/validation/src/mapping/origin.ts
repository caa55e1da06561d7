import type { CommandCaller } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import { type Call, neededOriginOf } from "@scrip/rpc";

/** The caller of a command, from which its events get their origin. */
export function callerToProto(call: Call): { readonly caller?: CommandCaller } {
  const origin = neededOriginOf(call);
  if (origin === undefined) return {};
  const projectVersion = origin.project?.version;
  return {
    caller: {
      $typeName: "scrip.voucher.v1.CommandCaller",
      ...origin.caller,
      ...(projectVersion !== undefined && { projectVersion }),
      hasWebhooks: call.project.webhookEvents !== undefined,
    },
  };
}
