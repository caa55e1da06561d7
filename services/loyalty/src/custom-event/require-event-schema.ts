import { ApiError, invalidPayload, notFound } from "@scrip/errors";

import type { Deps } from "../deps.ts";
import { eventMetadataFaults } from "../domain/custom-event-schema.ts";
import { isCustomEvent } from "../domain/earning/earning-rule.ts";
import type { EventSchemaRow } from "../store/custom-event-schemas.ts";

/** Rejects events that Scrip reports itself: a caller who sends them would trigger their earning rules. */
export function rejectBuiltInEvent(name: string, path: string): void {
  if (!isCustomEvent(name)) {
    throw invalidPayload(`Property .${path} cannot be the built-in event '${name}'`);
  }
}

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
