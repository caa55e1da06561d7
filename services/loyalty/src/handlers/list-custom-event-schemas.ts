import { create } from "@bufbuild/protobuf";
import { inTimeRange } from "@scrip/filters";
import {
  type CustomEventService,
  ListCustomEventSchemasResponseSchema,
} from "@scrip/proto/scrip/loyalty/v1/custom_events_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { eventSchemaToProto } from "../mapping/custom-event.ts";
import { listEventSchemas } from "../store/custom-event-schemas.ts";

export const listCustomEventSchemas =
  (deps: Deps): Handler<typeof CustomEventService.method.listCustomEventSchemas> =>
  async ({ createdAt }, { project }) => {
    const all = await listEventSchemas(deps.db, project.id);
    const rows = all.filter((row) => inTimeRange(row.created_at, createdAt));
    return create(ListCustomEventSchemasResponseSchema, {
      data: rows.map(eventSchemaToProto),
      total: BigInt(rows.length),
    });
  };
