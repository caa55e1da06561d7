import type { Call, Caller } from "./call.ts";

/** The request that caused something that is done for it, now or later. */
export type CallOrigin = {
  readonly requestId?: string | undefined;
  readonly caller: Caller;
  /** The version of the project that the request has seen. */
  readonly project?: { readonly version?: bigint | undefined } | undefined;
};

/**
 * The origin of the events of redemptions, rollbacks and paid orders, which are the most frequent ones: undefined in
 * projects where neither webhooks nor points need it, so these do not store it.
 */
export const neededOriginOf = ({
  project,
  requestId,
  caller,
  initiator,
}: Call): CallOrigin | undefined => {
  if (project.webhookEvents === undefined && project.hasEarningRules !== true) return undefined;
  return { requestId, caller: initiator ?? caller, project };
};
