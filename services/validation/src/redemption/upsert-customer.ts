import { isDeepStrictEqual } from "node:util";

import type { JsonObject } from "@bufbuild/protobuf";
import { instantToProto } from "@scrip/mapping";
import type { Customer } from "@scrip/proto/scrip/common/v1/customer_pb";
import type { StoredCustomer } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";

/** The customer as a redemption leaves it; however often it is decided, it is written once. */
export type CustomerUpsert = () => Promise<StoredCustomer | undefined>;

/**
 * Creates or updates the customer when a redemption is going to happen
 * (spec/validation-and-redemption.md §8.2). One of whom nothing new is requested is not written.
 */
export function customerUpsert(
  deps: Pick<Deps, "clients">,
  call: Call,
  {
    requestedCustomer,
    stored,
  }: {
    readonly requestedCustomer: Customer | undefined;
    readonly stored: StoredCustomer | undefined;
  },
): CustomerUpsert {
  let upserted: Promise<StoredCustomer | undefined> | undefined;
  return () => (upserted ??= upsertCustomer(deps, call, { requestedCustomer, stored }));
}

async function upsertCustomer(
  deps: Pick<Deps, "clients">,
  call: Call,
  {
    requestedCustomer,
    stored,
  }: {
    readonly requestedCustomer: Customer | undefined;
    readonly stored: StoredCustomer | undefined;
  },
): Promise<StoredCustomer | undefined> {
  const hasName = requestedCustomer?.id !== undefined || requestedCustomer?.sourceId !== undefined;
  if (requestedCustomer === undefined || !hasName) return undefined;
  const customer =
    call.caller.side === "client" ? identityOf(requestedCustomer) : requestedCustomer;
  if (stored !== undefined && !hasNewData(customer, stored)) return stored;
  const result = await deps.clients.resolveCustomer({
    projectId: call.project.id,
    customer,
    upsert: true,
    now: instantToProto(call.now),
  });
  return result.customer;
}

/** Anybody with a browser can name a customer, and must not change what is stored of him. */
const identityOf = ({ $typeName, id, sourceId }: Customer): Customer => ({
  $typeName,
  ...(id !== undefined && { id }),
  ...(sourceId !== undefined && { sourceId }),
});

const IDENTITY: ReadonlySet<string> = new Set(["$typeName", "id", "sourceId"]);

const KNOWN = ["name", "email", "birthdate"] as const;

const isKnown = (field: string): field is (typeof KNOWN)[number] =>
  (KNOWN as readonly string[]).includes(field);

/** Shops send what they know of a customer with each request; mostly all of it is stored already. */
const hasNewData = (requested: Customer, stored: StoredCustomer): boolean =>
  Object.entries(requested).some(([field, value]) => {
    if (value === undefined || IDENTITY.has(field)) return false;
    if (isKnown(field)) return value !== stored[field];
    return field !== "metadata" || !containsMetadata(stored.metadata, requested.metadata);
  });

/** Whether merging `requested` by key would leave the metadata as it is. */
const containsMetadata = (stored: JsonObject = {}, requested: JsonObject = {}): boolean =>
  Object.entries(requested).every(
    ([key, value]) => Object.hasOwn(stored, key) && isDeepStrictEqual(stored[key], value),
  );
