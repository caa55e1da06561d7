import type { Messages } from "@scrip/redis";

import type { CredentialCache } from "./credential-cache.ts";
import type { Eviction } from "./eviction.ts";

const CHANNEL = "scrip:evictions";

/**
 * Notifies the other replicas of the gateway of changed credentials and settings, so that they evict them. Without Redis,
 * cached entries expire after some seconds.
 */
export function shareEvictions(
  messages: Messages,
  cache: Pick<CredentialCache, "onEviction" | "apply">,
): void {
  messages.subscribe(CHANNEL, (message) => {
    if (isEviction(message)) cache.apply(message);
  });
  cache.onEviction((eviction) => messages.publish(CHANNEL, eviction));
}

const KINDS: ReadonlySet<unknown> = new Set(["token", "key", "project"]);

function isEviction(message: unknown): message is Eviction {
  if (typeof message !== "object" || message === null) return false;
  const { kind, name } = message as Partial<Eviction>;
  return KINDS.has(kind) && typeof name === "string";
}
