import { newRequestId } from "@scrip/ids";

import { type Call, type Caller, REQUEST_DEADLINE_MS } from "./call.ts";
import type { FindProject } from "./find-project.ts";

/** The request because of which a service makes a call for itself. */
export type CallOrigin = { readonly requestId?: string | undefined; readonly caller: Caller };

/**
 * A call that a service makes for itself in a project, such as for an event, whose origin it takes over; undefined when
 * the project was deleted.
 */
export async function ownCall(
  findProject: FindProject,
  {
    service,
    projectId,
    origin,
  }: {
    readonly service: string;
    readonly projectId: string;
    readonly origin?: CallOrigin | undefined;
  },
): Promise<Call | undefined> {
  const deadline = Date.now() + REQUEST_DEADLINE_MS;
  const state = await findProject({ projectId, version: undefined, deadline });
  if (state === undefined || state.deleted) return undefined;
  return {
    project: state.project,
    requestId: origin?.requestId ?? newRequestId(),
    deadline,
    now: state.sandboxNow ?? Date.now(),
    caller: { side: "service", id: service },
    ...(origin !== undefined && { initiator: origin.caller }),
  };
}
