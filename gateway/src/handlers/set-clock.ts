import { timestampMs } from "@bufbuild/protobuf/wkt";
import { invalidPayload, notFound } from "@scrip/errors";
import type { ProjectService } from "@scrip/proto/scrip/gateway/v1/projects_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { setSandboxClock } from "../domain/sandbox-clock.ts";
import { projectToProto } from "../mapping/project.ts";
import { lockProject, updateProject } from "../store/projects.ts";

export const setClock =
  (deps: Deps): Handler<typeof ProjectService.method.setClock> =>
  async (request) => {
    const { projectId, now, updateMask } = request;
    // `null` returns to real time; an absent field is an error.
    if (now === undefined && updateMask?.paths.includes("now") !== true) {
      throw invalidPayload("Payload should have required property 'now'");
    }
    const updated = await deps.db.transaction(async (tx) => {
      const before = await lockProject(tx, projectId);
      if (before === undefined) throw notFound("project", projectId);
      const clock = now === undefined ? null : timestampMs(now);
      const after = { ...setSandboxClock(before, clock), updatedAt: new Date(deps.clock()) };
      await updateProject(tx, after);
      return after;
    });
    deps.credentialCache.evictProject(projectId);
    return projectToProto(updated);
  };
