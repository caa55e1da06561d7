import { currentTime, projectTime } from "@scrip/clock";
import { newRequestId } from "@scrip/ids";

import type { CallOrigin } from "./call-origin.ts";
import { type Call, REQUEST_DEADLINE_MS } from "./call.ts";
import type { FindProject } from "./find-project.ts";

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
  const deadline = currentTime() + REQUEST_DEADLINE_MS;
  const state = await findProject({ projectId, version: origin?.project?.version, deadline });
  if (state === undefined || state.deleted) return undefined;
  return {
    project: state.project,
    requestId: origin?.requestId ?? newRequestId(),
    deadline,
    now: projectTime(state),
    caller: { side: "service", id: service },
    ...(origin !== undefined && { initiator: origin.caller }),
  };
}
