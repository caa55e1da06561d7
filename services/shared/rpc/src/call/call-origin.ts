import type { Call, Caller } from "./call.ts";

/** The request that caused something that is done for it, now or later. */
export type CallOrigin = {
  readonly requestId?: string | undefined;
  readonly caller: Caller;
  /** The version of the project that the request has seen. */
  readonly project?: { readonly version?: bigint | undefined } | undefined;
};

/**
 * The origin of the events of redemptions, rollbacks and paid orders. Only webhooks read it, so other projects do not
 * store it: these events are the most frequent ones.
 */
export const webhookOriginOf = ({
  project,
  requestId,
  caller,
  initiator,
}: Call): CallOrigin | undefined =>
  project.webhookEvents === undefined ? undefined : { requestId, caller: initiator ?? caller };
