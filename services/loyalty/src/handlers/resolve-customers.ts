import { create, type JsonObject, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import {
  type CustomerQuery,
  type CustomerService,
  ResolveCustomersResponseSchema,
  type StoredCustomerSchema,
} from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import type { Call, Handlers } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import {
  customerChangeOf,
  type CustomerKey,
  customerKeyOf,
  hasChanges,
} from "../domain/customer.ts";
import { evaluateSegments } from "../segment/evaluate-segments.ts";
import {
  insertMissingCustomers,
  findCustomersBy,
  type StoredCustomer,
  mergeCustomers,
} from "../store/customers.ts";

export const resolveCustomers =
  (deps: Deps): Handlers<typeof CustomerService>["resolveCustomers"] =>
  async ({ queries }, call) => {
    const questions = queries.map((query) => parseQuery(query, call));
    const keys = questions.flatMap(({ key }) => key ?? []);
    const found = new Map<string, StoredCustomer>();
    await collectCustomers(deps, keys, found);

    const missing = questions.flatMap(({ key, query, at }) =>
      query.upsert && key?.column === "source_id" && !found.has(keyText(key)) ? [{ key, at }] : [],
    );
    if (missing.length > 0) {
      await insertMissingCustomers(
        deps.db,
        missing.map(({ key, at }) => ({
          projectId: key.projectId,
          id: deps.newId("cust"),
          sourceId: key.value,
          at,
        })),
      );
      await collectCustomers(
        deps,
        missing.map(({ key }) => key),
        found,
      );
    }

    await mergeInputs(deps, questions, found);

    const segmentIds = await segmentIdsOf(deps, questions, found);
    return create(ResolveCustomersResponseSchema, {
      results: questions.map(({ key, query }) => {
        const customer = key && found.get(keyText(key));
        return {
          ...(customer !== undefined && { customer: storedCustomerToProto(customer) }),
          segmentIds: segmentIds.get(query) ?? [],
        };
      }),
    });
  };

/** In the order of the questions, in rounds: one of each customer at a time. */
async function mergeInputs(
  deps: Deps,
  questions: readonly ResolveQuery[],
  found: Map<string, StoredCustomer>,
): Promise<void> {
  const said = questions.flatMap(({ key, query, at }) => {
    const customer = key && found.get(keyText(key));
    if (key === undefined || customer === undefined) return [];
    if (!query.upsert || query.customer === undefined || !hasChanges(query.customer)) return [];
    const { projectId, id } = customer;
    return [{ key, merge: { projectId, id, change: customerChangeOf(query.customer), at } }];
  });
  const byCustomer = Map.groupBy(said, ({ merge: { projectId, id } }) =>
    customerRef({ projectId, id }),
  );
  const rounds = Math.max(0, ...[...byCustomer.values()].map(({ length }) => length));
  for (let round = 0; round < rounds; round += 1) {
    const some = [...byCustomer.values()].flatMap((ofOne) => ofOne[round] ?? []);
    const merged = await mergeCustomers(
      deps.db,
      some.map((one) => one.merge),
    );
    const byName = new Map(merged.map((customer) => [customerRef(customer), customer]));
    for (const one of some) {
      const customer = byName.get(customerRef(one.merge));
      if (customer !== undefined) found.set(keyText(one.key), customer);
    }
  }
}

const customerRef = ({
  projectId,
  id,
}: {
  readonly projectId: string;
  readonly id: string;
}): string => JSON.stringify([projectId, id]);

/** Of the queries that ask for segments; the others cost nothing. */
async function segmentIdsOf(
  deps: Deps,
  questions: readonly ResolveQuery[],
  found: ReadonlyMap<string, StoredCustomer>,
): Promise<ReadonlyMap<CustomerQuery, string[]>> {
  const asking = questions.filter(({ query }) => query.withSegments);
  if (asking.length === 0) return new Map();
  const segments = await evaluateSegments(
    deps,
    asking.map(({ query, key, at }) => ({
      projectId: query.projectId,
      customerId: (key && found.get(keyText(key))?.id) ?? null,
      input: query.customer,
      moment: {
        now: at.getTime(),
        timeZone: query.timeZone || "UTC",
        firstWeekday: query.firstWeekday,
      },
    })),
  );
  return new Map(
    asking.map(({ query }, index) => [query, (segments[index] ?? []).map(({ id }) => id)]),
  );
}

type ResolveQuery = {
  readonly query: CustomerQuery;
  readonly key: CustomerKey | undefined;
  readonly at: Date;
};

function parseQuery(query: CustomerQuery, call: Call): ResolveQuery {
  return {
    query,
    key: query.customer && customerKeyOf(query.projectId, query.customer),
    at: new Date(query.now === undefined ? call.now : timestampMs(query.now)),
  };
}

async function collectCustomers(
  deps: Deps,
  keys: readonly CustomerKey[],
  found: Map<string, StoredCustomer>,
): Promise<void> {
  for (const column of ["id", "source_id"] as const) {
    const customers = await findCustomersBy(
      deps.db,
      column,
      keys.filter((key) => key.column === column),
    );
    for (const customer of customers) {
      const value = column === "id" ? customer.id : customer.sourceId;
      if (value === null) continue;
      found.set(keyText({ projectId: customer.projectId, column, value }), customer);
    }
  }
}

const keyText = ({ projectId, column, value }: CustomerKey): string =>
  JSON.stringify([projectId, column, value]);

function storedCustomerToProto(
  customer: StoredCustomer,
): MessageInitShape<typeof StoredCustomerSchema> {
  return {
    id: customer.id,
    metadata: customer.metadata as JsonObject,
    ...(customer.sourceId !== null && { sourceId: customer.sourceId }),
    ...(customer.name !== null && { name: customer.name }),
    ...(customer.email !== null && { email: customer.email }),
    ...(customer.birthdate !== null && { birthdate: customer.birthdate }),
  };
}
