import { create, type JsonObject } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type CreateCustomEventRequest,
  type CustomEvent,
  CustomEventSchema,
  EventSchemaSchema,
  type EventSchema as EventSchemaMessage,
  type EventSchemaDefinition,
} from "@scrip/proto/scrip/loyalty/v1/custom_events_pb";
import type { Call } from "@scrip/rpc";

import { isPropertyType, type PropertyDefinitions } from "../domain/custom-event-schema.ts";
import type { EventSchemaRow } from "../store/custom-event-schemas.ts";
import type { StoredCustomer } from "../store/customers.ts";

/** Client-side callers see the ids of the customer only. */
export const customEventToProto = (
  { event, metadata = {} }: CreateCustomEventRequest,
  { id, sourceId, name, email, metadata: ofCustomer }: StoredCustomer,
  { caller }: Call,
): CustomEvent =>
  create(CustomEventSchema, {
    type: event,
    customer: {
      id,
      ...(sourceId !== null && { sourceId }),
      metadata: {},
      ...(caller.side !== "client" && {
        ...(name !== null && { name }),
        ...(email !== null && { email }),
        metadata: ofCustomer as JsonObject,
      }),
    },
    metadata,
  });

export const eventSchemaToProto = (row: EventSchemaRow): EventSchemaMessage =>
  create(EventSchemaSchema, {
    id: row.id,
    name: row.name,
    schema: {
      properties: Object.fromEntries(
        Object.entries(row.properties).map(([key, definition]) => [
          key,
          { $typeName: "scrip.loyalty.v1.EventPropertyDefinition" as const, ...definition },
        ]),
      ),
    },
    createdAt: timestampFromDate(row.created_at),
    ...(row.updated_at !== null && { updatedAt: timestampFromDate(row.updated_at) }),
  });

export const propertyDefinitionsFromProto = (
  schema: EventSchemaDefinition | undefined,
): PropertyDefinitions =>
  Object.fromEntries(
    Object.entries(schema?.properties ?? {}).map(([key, { type, optional, deleted }]) => {
      if (!isPropertyType(type)) throw new Error(`the contract has no type ${type}`);
      return [key, { type, optional, deleted }];
    }),
  );
