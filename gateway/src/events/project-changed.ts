import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { OutboxEvent } from "@scrip/events";
import { newId } from "@scrip/ids";
import { ProjectChangedSchema } from "@scrip/proto/scrip/events/v1/projects_pb";

import { canonicalTimeZone, type Project } from "../domain/project.ts";

const PROJECTS_TOPIC = "scrip.projects.v1";

export type PublishedProject = Project & { readonly deleted: boolean };

/** The whole state that services decide with; they keep the highest version. */
export const projectChangedEvent = (project: PublishedProject): OutboxEvent => ({
  projectId: project.id,
  id: newId("event"),
  topic: PROJECTS_TOPIC,
  type: ProjectChangedSchema.typeName,
  key: project.id,
  entityVersion: project.version,
  payload: toBinary(
    ProjectChangedSchema,
    create(ProjectChangedSchema, {
      projectId: project.id,
      version: project.version,
      deleted: project.deleted,
      timeZone: canonicalTimeZone(project.timeZone),
      firstWeekday: project.firstWeekday,
      caseSensitiveCodes: project.caseSensitiveCodes,
      ...(project.defaultCodeConfig !== null && {
        defaultCodeConfig: JSON.stringify(project.defaultCodeConfig),
      }),
      ...(project.sandboxNow !== null && { sandboxNow: timestampFromMs(project.sandboxNow) }),
      webhookEvents: [...project.webhookEvents],
      hasEarningRules: project.hasEarningRules,
      cancelPendingPointsOnOrderCancel: project.cancelPendingPointsOnOrderCancel,
    }),
  ),
});
