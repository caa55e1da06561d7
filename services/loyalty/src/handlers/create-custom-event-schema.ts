import { duplicate, invalidPayload } from "@scrip/errors";
import { isUniqueViolation } from "@scrip/postgres";
import type { CustomEventService } from "@scrip/proto/scrip/loyalty/v1/custom_events_pb";
import type { Handler } from "@scrip/rpc";

import { rejectBuiltInEvent } from "../custom-event/require-event-schema.ts";
import type { Deps } from "../deps.ts";
import { eventSchemaToProto, propertyDefinitionsFromProto } from "../mapping/custom-event.ts";
import {
  countEventSchemas,
  type EventSchemaRow,
  insertEventSchema,
} from "../store/custom-event-schemas.ts";

/** All of them are loaded and cached together. */
const MAX_SCHEMAS = 100n;

export const createCustomEventSchema =
  (deps: Deps): Handler<typeof CustomEventService.method.createCustomEventSchema> =>
  async ({ name, schema }, { project, now }) => {
    rejectBuiltInEvent(name, "name");
    const row: EventSchemaRow = {
      id: deps.newId("ms"),
      name,
      properties: propertyDefinitionsFromProto(schema),
      created_at: new Date(now),
      updated_at: null,
    };
    await deps.definitions
      .write(project.id, async (tx) => {
        if ((await countEventSchemas(tx, project.id)) >= MAX_SCHEMAS) {
          throw invalidPayload(
            `A project cannot have more than ${MAX_SCHEMAS} custom event schemas`,
          );
        }
        await insertEventSchema(tx, project.id, row);
      })
      .catch((error: unknown) => {
        if (isUniqueViolation(error, "custom_event_schema_name"))
          throw duplicate("custom_event_schema", "name", name);
        throw error;
      });
    return eventSchemaToProto(row);
  };
