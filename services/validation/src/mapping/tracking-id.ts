import { createHmac } from "node:crypto";

import { ApiError } from "@scrip/errors";

const PREFIX = "track_";

/**
 * `track_` and a keyed hash of the customer's source id: stable per customer and project, and
 * nothing can be read from it. What is sent as a tracking id may be either form
 * (spec/validation-and-redemption.md §5.3).
 */
export function trackingIdOf(
  secret: string,
  projectId: string,
  said: { readonly trackingId?: string | undefined; readonly sourceId?: string | undefined },
): string | undefined {
  const own = said.sourceId === undefined ? undefined : hash(secret, projectId, said.sourceId);
  if (said.trackingId === undefined || said.trackingId === "") return own;
  const sent = said.trackingId.startsWith(PREFIX)
    ? said.trackingId
    : hash(secret, projectId, said.trackingId);
  if (own !== undefined && own !== sent) {
    throw new ApiError("ambiguous_tracking_id", {
      message: `Ambiguous trackingId ('${said.trackingId}' vs. '${said.sourceId}')`,
    });
  }
  return sent;
}

function hash(secret: string, projectId: string, sourceId: string): string {
  const digest = createHmac("sha256", secret)
    .update(`${projectId}\n${sourceId}`)
    .digest("base64url");
  return PREFIX + digest;
}
