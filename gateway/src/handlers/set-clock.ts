import { timestampMs } from "@bufbuild/protobuf/wkt";
import { invalidPayload, notFound, ApiError } from "@scrip/errors";
import type { ProjectService } from "@scrip/proto/scrip/gateway/v1/projects_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { projectToProto } from "../mapping/project.ts";
import { lockProject, updateProject } from "../store/projects.ts";

/** Moves the clock of a sandbox project, where it then stands still (spec/rulings.md 13). */
export const setClock =
  (deps: Deps): Handler<typeof ProjectService.method.setClock> =>
  async (request) => {
    const { projectId, now, updateMask } = request;
    // Absent is a mistake, null is an answer.
    if (now === undefined && updateMask?.paths.includes("now") !== true) {
      throw invalidPayload("Payload should have required property 'now'");
    }
    const updated = await deps.db.transaction(async (tx) => {
      const before = await lockProject(tx, projectId);
      if (before === undefined) throw notFound("project", projectId);
      if (!before.sandbox) {
        throw new ApiError("forbidden", {
          details: "Only a sandbox project has a clock of its own",
        });
      }
      const sandboxNow = now === undefined ? null : timestampMs(now);
      const after = { ...before, sandboxNow, updatedAt: new Date(deps.clock()) };
      await updateProject(tx, after);
      return after;
    });
    deps.credentialCache.evictProject(projectId);
    return projectToProto(updated);
  };
