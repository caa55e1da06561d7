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
 * (spec/validation-and-redemption.md §8.2). One of whom nothing new is said is not written.
 */
export function customerUpsert(
  deps: Pick<Deps, "clients">,
  call: Call,
  {
    said,
    found,
  }: { readonly said: Customer | undefined; readonly found: StoredCustomer | undefined },
): CustomerUpsert {
  let asked: Promise<StoredCustomer | undefined> | undefined;
  return () => (asked ??= upsertCustomer(deps, call, { said, found }));
}

async function upsertCustomer(
  deps: Pick<Deps, "clients">,
  call: Call,
  {
    said,
    found,
  }: { readonly said: Customer | undefined; readonly found: StoredCustomer | undefined },
): Promise<StoredCustomer | undefined> {
  if (said === undefined || (said.id === undefined && said.sourceId === undefined))
    return undefined;
  const customer = call.caller.side === "client" ? identityOf(said) : said;
  if (found !== undefined && !hasNewData(customer, found)) return found;
  const answered = await deps.clients.resolveCustomer({
    projectId: call.project.id,
    customer,
    upsert: true,
    now: instantToProto(call.now),
  });
  return answered.customer;
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
const hasNewData = (said: Customer, found: StoredCustomer): boolean =>
  Object.entries(said).some(([field, value]) => {
    if (value === undefined || IDENTITY.has(field)) return false;
    if (isKnown(field)) return value !== found[field];
    return field !== "metadata" || !containsMetadata(found.metadata, said.metadata);
  });

/** Whether merging `said` by key would leave the metadata as it is. */
const containsMetadata = (found: JsonObject = {}, said: JsonObject = {}): boolean =>
  Object.entries(said).every(
    ([key, value]) => Object.hasOwn(found, key) && isDeepStrictEqual(found[key], value),
  );
