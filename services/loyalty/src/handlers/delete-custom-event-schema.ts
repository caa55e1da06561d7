import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import { inUse, notFound } from "@scrip/errors";
import type { CustomEventService } from "@scrip/proto/scrip/loyalty/v1/custom_events_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { deleteEventSchema, findEventSchema } from "../store/custom-event-schemas.ts";
import { findRulesReferringTo } from "../store/earning-rules.ts";

export const deleteCustomEventSchema =
  (deps: Deps): Handler<typeof CustomEventService.method.deleteCustomEventSchema> =>
  async ({ schemaId: id }, { project }) => {
    await deps.definitions.write(project.id, async (tx) => {
      const schema = await findEventSchema(tx, { projectId: project.id, id, lock: true });
      if (schema === undefined) throw notFound("custom_event_schema", id);
      // By name: a rule may be older than the schema of its event.
      const rules = await findRulesReferringTo(tx, project.id, {
        column: "event",
        id: schema.name,
      });
      if (rules.total > 0n) {
        throw inUse("custom_event_schema", id, { ...rules, type: "earning_rule" });
      }
      await deleteEventSchema(tx, project.id, id);
    });
    return create(EmptySchema);
  };
