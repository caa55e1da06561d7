import { isDeepStrictEqual } from "node:util";

import type { JsonObject } from "@bufbuild/protobuf";
import type { Customer } from "@scrip/proto/scrip/common/v1/customer_pb";
import type { StoredCustomer } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";

/** The customer as a redemption stores them; written once, however often it is decided. */
export type CustomerUpsert = () => Promise<StoredCustomer | undefined>;

/**
 * Creates or updates the customer of a redemption that is about to be committed. Unchanged
 * customers are not written.
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
  return (await deps.clients.upsertCustomer(customer, call)).customer;
}

/** Client-side callers can name any customer, and must not change stored data. */
const identityOf = ({ $typeName, id, sourceId }: Customer): Customer => ({
  $typeName,
  ...(id !== undefined && { id }),
  ...(sourceId !== undefined && { sourceId }),
});

const IDENTITY: ReadonlySet<string> = new Set(["$typeName", "id", "sourceId"]);

const KNOWN = ["name", "email", "birthdate"] as const;

const isKnown = (field: string): field is (typeof KNOWN)[number] =>
  (KNOWN as readonly string[]).includes(field);

/** Most requests repeat data that is already stored. */
const hasNewData = (requested: Customer, stored: StoredCustomer): boolean =>
  Object.entries(requested).some(([field, value]) => {
    if (value === undefined || IDENTITY.has(field)) return false;
    if (isKnown(field)) return value !== stored[field];
    return field !== "metadata" || !containsMetadata(stored.metadata, requested.metadata);
  });

/** Whether merging `requested` by key leaves the metadata unchanged. */
const containsMetadata = (stored: JsonObject = {}, requested: JsonObject = {}): boolean =>
  Object.entries(requested).every(
    ([key, value]) => Object.hasOwn(stored, key) && isDeepStrictEqual(stored[key], value),
  );
