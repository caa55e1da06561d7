import { timestampMs } from "@bufbuild/protobuf/wkt";
import { invalidPayload } from "@scrip/errors";
import type { ProjectService } from "@scrip/proto/scrip/gateway/v1/projects_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { setSandboxClock } from "../domain/sandbox-clock.ts";
import { projectToProto } from "../mapping/project.ts";
import { changeProject } from "../projects/change-project.ts";

export const setClock =
  (deps: Deps): Handler<typeof ProjectService.method.setClock> =>
  async (request) => {
    const { projectId, now, updateMask } = request;
    // `null` returns to real time; an absent field is an error.
    if (now === undefined && updateMask?.paths.includes("now") !== true) {
      throw invalidPayload("Payload should have required property 'now'");
    }
    const clock = now === undefined ? null : timestampMs(now);
    return projectToProto(
      await changeProject(deps, projectId, (before) => setSandboxClock(before, clock)),
    );
  };
