import { create } from "@bufbuild/protobuf";
import { newId, newRequestId } from "@scrip/ids";
import {
  CardService,
  type GetCardBalancesRequest,
  GetCardBalancesResponseSchema,
} from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import {
  CustomerService,
  type ResolveCustomersRequest,
  ResolveCustomersResponseSchema,
} from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import { RedemptionService } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import { VoucherService } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import {
  type Call,
  type Client,
  clientOf,
  createDirectTransport,
  type Implementation,
} from "@scrip/rpc";
import { testDatabase, type TestDatabase } from "@scrip/testing";

import { createRecentUsages } from "../src/batch/recent-usages.ts";
import type { Deps } from "../src/deps.ts";
import { createAssetCipher } from "../src/image/asset-cipher.ts";
import { createDefinitionCache } from "../src/loading/definition-cache.ts";
import { routes } from "../src/routes.ts";
import { MIGRATIONS, ROLE, SCHEMA } from "../src/service.ts";
import { voucherInvariants } from "../src/store/invariants.ts";

export const NOON = Date.parse("2026-11-21T12:00:00Z");

export type TestService = AsyncDisposable & {
  readonly db: TestDatabase;
  readonly vouchers: Client<typeof VoucherService>;
  readonly redemptions: Client<typeof RedemptionService>;
  /** A call of this project at noon. */
  readonly call: (overrides?: Partial<Call["project"]> & { readonly now?: number }) => Call;
  readonly projectId: string;
  /** Another process of the service on the same database. */
  readonly replica: () => Client<typeof RedemptionService>;
};

/** The service on a database of its own, in a project of its own. */
export async function startTestService(): Promise<TestService> {
  const db = await testDatabase({ schema: SCHEMA, role: ROLE, folder: MIGRATIONS });
  const transport = () => createDirectTransport(routes(depsOf(db)));
  const own = transport();
  const projectId = newId("proj");
  return {
    db,
    projectId,
    vouchers: clientOf(VoucherService, own),
    redemptions: clientOf(RedemptionService, own),
    replica: () => clientOf(RedemptionService, transport()),
    call: ({ now = NOON, ...project } = {}) => ({
      project: { id: projectId, timeZone: "UTC", caseSensitiveCodes: true, ...project },
      requestId: newRequestId(),
      deadline: Date.now() + 60_000,
      now,
      caller: { side: "server", id: "app_1" },
    }),
    [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
  };
}

/** A loyalty service that resolves every customer by the requested id or source id. */
const everybody: Implementation = {
  service: CustomerService,
  handlers: {
    resolveCustomers: ({ queries }: ResolveCustomersRequest) =>
      Promise.resolve(
        create(ResolveCustomersResponseSchema, {
          results: queries.map(({ customer }) => ({
            customer: { id: customer?.id ?? `cust_${customer?.sourceId}` },
          })),
        }),
      ),
  },
};

/** A loyalty service whose cards have their initial points. */
const unspent: Implementation = {
  service: CardService,
  handlers: {
    getCardBalances: ({ cards }: GetCardBalancesRequest) =>
      Promise.resolve(
        create(GetCardBalancesResponseSchema, {
          balances: cards.map(({ initialPoints: points }) => ({ points, balance: points })),
        }),
      ),
  },
};

const ASSET_SECRET = "a secret of tests";

export function depsOf(db: TestDatabase): Deps {
  return {
    db,
    codesSortByBytes: true,
    newId,
    definitions: createDefinitionCache(),
    recentUsages: createRecentUsages(),
    assets: createAssetCipher(ASSET_SECRET),
    customers: clientOf(CustomerService, createDirectTransport([everybody])),
    cards: clientOf(CardService, createDirectTransport([unspent])),
    findProject: () => undefined,
    onError: () => {},
    onEvents: () => {},
  };
}

/** Fails if an invariant of the stored data is violated. */
export async function checkInvariants({ db, projectId }: TestService): Promise<void> {
  const request = { projectId, after: "", limit: 100_000 };
  const chunks = await Promise.all(
    voucherInvariants.map(({ checkChunk }) => checkChunk(db, request)),
  );
  const violations = chunks.flatMap((chunk) => chunk.violations);
  if (violations.length > 0) throw new Error(`broken: ${JSON.stringify(violations.slice(0, 5))}`);
}
