import { invalidPayload, notFound } from "@scrip/errors";
import type { CustomEventService } from "@scrip/proto/scrip/loyalty/v1/custom_events_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { eventSchemaToProto, propertyDefinitionsFromProto } from "../mapping/custom-event.ts";
import { findEventSchema, updateEventSchema } from "../store/custom-event-schemas.ts";

const MAX_DEFINITIONS = 100;

export const updateCustomEventSchema =
  (deps: Deps): Handler<typeof CustomEventService.method.updateCustomEventSchema> =>
  async ({ schemaId: id, schema }, { project, now }) => {
    const updated = await deps.definitions.write(project.id, async (tx) => {
      const row = await findEventSchema(tx, { projectId: project.id, id, lock: true });
      if (row === undefined) throw notFound("custom_event_schema", id);
      const properties = { ...row.properties, ...propertyDefinitionsFromProto(schema) };
      if (Object.keys(properties).length > MAX_DEFINITIONS) {
        throw invalidPayload(
          `Property .schema.properties must NOT have more than ${MAX_DEFINITIONS} items`,
        );
      }
      const next = { ...row, properties, updated_at: new Date(now) };
      await updateEventSchema(tx, project.id, next);
      return next;
    });
    return eventSchemaToProto(updated);
  };
