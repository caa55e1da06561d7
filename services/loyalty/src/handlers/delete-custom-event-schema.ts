import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import { inUse, notFound } from "@scrip/errors";
import type { CustomEventService } from "@scrip/proto/scrip/loyalty/v1/custom_events_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { deleteEventSchema } from "../store/custom-event-schemas.ts";
import { findRulesReferringTo } from "../store/earning-rules.ts";

export const deleteCustomEventSchema =
  (deps: Deps): Handler<typeof CustomEventService.method.deleteCustomEventSchema> =>
  async ({ schemaId: id }, { project }) => {
    const deleted = await deps.definitions.write(project.id, async (tx) => {
      const rules = await findRulesReferringTo(tx, project.id, { column: "schema_id", id });
      if (rules.total > 0n) {
        throw inUse("custom_event_schema", id, { ...rules, type: "earning_rule" });
      }
      return deleteEventSchema(tx, project.id, id);
    });
    if (!deleted) throw notFound("custom_event_schema", id);
    return create(EmptySchema);
  };
