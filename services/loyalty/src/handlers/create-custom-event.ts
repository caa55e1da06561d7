import { invalidPayload, notFound } from "@scrip/errors";
import { enqueue } from "@scrip/events";
import type { Queryable } from "@scrip/postgres";
import type { Customer } from "@scrip/proto/scrip/common/v1/customer_pb";
import type {
  CreateCustomEventRequest,
  CustomEventService,
} from "@scrip/proto/scrip/loyalty/v1/custom_events_pb";
import type { Call, Handler } from "@scrip/rpc";

import { requireCard, requireReferral } from "../custom-event/event-vouchers.ts";
import {
  rejectBuiltInEvent,
  rejectInvalidMetadata,
  requireEventSchema,
} from "../custom-event/require-event-schema.ts";
import { resolveAndPublish } from "../customer/resolve-and-publish.ts";
import type { Deps } from "../deps.ts";
import { customerKeyOf } from "../domain/customer.ts";
import { customEventReceived } from "../events/custom-event-received.ts";
import { customEventToProto } from "../mapping/custom-event.ts";
import { type CustomEventRow, insertCustomEvent } from "../store/custom-events.ts";
import { lockCustomer, type StoredCustomer } from "../store/customers.ts";

export const createCustomEvent =
  (deps: Deps): Handler<typeof CustomEventService.method.createCustomEvent> =>
  async (request, call) => {
    const { id: projectId } = call.project;
    const { event: name, metadata = {} } = request;
    rejectBuiltInEvent(name, "event");
    const schema = await requireEventSchema(deps, projectId, name);
    rejectInvalidMetadata(schema, metadata);
    const customer = await deps.db.transaction(async (tx) => {
      const buyer = await requireCustomer({ ...deps, db: tx }, request, call);
      const { loyalty, referral } = request;
      const cardId = loyalty === undefined ? null : requireCard(loyalty, buyer.id);
      const named = { name, schemaId: schema?.id ?? null };
      const converted = referral && requireReferral(referral, buyer.id, named);
      const row: CustomEventRow = {
        id: deps.newId("event"),
        customer_id: buyer.id,
        name,
        schema_id: schema?.id ?? null,
        metadata,
        loyalty_card_id: cardId,
        referral_code: converted?.code ?? null,
        created_at: new Date(call.now),
      };
      // The lock of the customer orders the events of the key.
      if (!(await lockCustomer(tx, projectId, buyer.id))) throw notFound("customer", buyer.id);
      await insertCustomEvent(tx, projectId, row);
      await enqueue(tx, [customEventReceived(projectId, row, converted)], call);
      return buyer;
    });
    deps.onEvents();
    return customEventToProto(request, customer, call);
  };

async function requireCustomer(
  deps: Pick<Deps, "newId" | "tiers"> & { readonly db: Queryable },
  { customer }: CreateCustomEventRequest,
  call: Call,
): Promise<StoredCustomer> {
  const { project, caller, now } = call;
  const key = customer && customerKeyOf(project.id, customer);
  if (customer === undefined || key === undefined) {
    throw invalidPayload("Property .customer must have .id or .source_id");
  }
  // Client-side callers identify a customer; they do not change the profile.
  const input: Customer = caller.side === "client" ? customerIdentity(customer) : customer;
  const request = { key, input, upsert: true, at: new Date(now) };
  const [stored] = await resolveAndPublish(deps, [request], call);
  if (stored === undefined) throw notFound("customer", key.value);
  return stored;
}

const customerIdentity = ({ $typeName, id, sourceId }: Customer): Customer => ({
  $typeName,
  ...(id !== undefined && { id }),
  ...(sourceId !== undefined && { sourceId }),
});
