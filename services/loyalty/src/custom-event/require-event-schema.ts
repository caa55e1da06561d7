import { ApiError, notFound } from "@scrip/errors";

import type { Deps } from "../deps.ts";
import { eventMetadataFaults } from "../domain/custom-event-schema.ts";
import type { EventSchemaRow } from "../store/custom-event-schemas.ts";

/**
 * The schema of an event; undefined in a project without schemas, which accepts any event
 * (docs/custom-events.md#schemas).
 */
export async function requireEventSchema(
  deps: Pick<Deps, "eventSchemas">,
  projectId: string,
  name: string,
): Promise<EventSchemaRow | undefined> {
  const schemas = await deps.eventSchemas(projectId);
  const schema = schemas.get(name);
  if (schema === undefined && schemas.size > 0) throw notFound("custom_event_schema", name);
  return schema;
}

export function rejectInvalidMetadata(
  schema: EventSchemaRow | undefined,
  metadata: Readonly<Record<string, unknown>>,
): void {
  if (schema === undefined) return;
  const faults = eventMetadataFaults(schema.properties, metadata);
  if (faults.length > 0) {
    throw new ApiError("metadata_validation_failed", { details: faults.join(", ") });
  }
}
