import type { Messages } from "@scrip/redis";

import type { Service } from "../server/service.ts";

/** Makes changes of definitions apply in all processes of a service before the request that made them has its response. */
export function shareDefinitions(
  messages: Messages,
  { name, definitions }: Pick<Service, "name" | "definitions">,
): void {
  const channel = `scrip:definitions:${name}`;
  definitions?.share({
    announce: (projectId) => messages.publish(channel, { projectId }),
    follow: (apply) =>
      messages.subscribe(channel, (message) => {
        const { projectId } = Object(message) as { readonly projectId?: unknown };
        if (typeof projectId === "string") apply(projectId);
      }),
  });
}
