import { createHmac } from "node:crypto";

import { ApiError } from "@scrip/errors";

const PREFIX = "track_";

/**
 * `track_` and a keyed hash of the customer's source id: stable per customer and project, and not
 * reversible. Callers may send either the source id or the finished tracking id; undefined when the
 * customer has no source id and none was sent.
 */
export function trackingIdOf(
  secret: string,
  projectId: string,
  {
    trackingId,
    sourceId,
  }: { readonly trackingId?: string | undefined; readonly sourceId?: string | undefined },
): string | undefined {
  const own = sourceId === undefined ? undefined : hash(secret, projectId, sourceId);
  if (trackingId === undefined || trackingId === "") return own;
  const sent = trackingId.startsWith(PREFIX) ? trackingId : hash(secret, projectId, trackingId);
  if (own !== undefined && own !== sent) {
    throw new ApiError("ambiguous_tracking_id", {
      message: `Ambiguous trackingId ('${trackingId}' vs. '${sourceId}')`,
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
