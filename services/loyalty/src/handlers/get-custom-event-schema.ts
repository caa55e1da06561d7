import { notFound } from "@scrip/errors";
import type { CustomEventService } from "@scrip/proto/scrip/loyalty/v1/custom_events_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { eventSchemaToProto } from "../mapping/custom-event.ts";
import { findEventSchema } from "../store/custom-event-schemas.ts";

export const getCustomEventSchema =
  (deps: Deps): Handler<typeof CustomEventService.method.getCustomEventSchema> =>
  async ({ schemaId: id }, { project }) => {
    const row = await findEventSchema(deps.db, { projectId: project.id, id });
    if (row === undefined) throw notFound("custom_event_schema", id);
    return eventSchemaToProto(row);
  };
