import { randomBytes } from "node:crypto";

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { newId, newRequestId } from "@scrip/ids";
import { DiscountType } from "@scrip/proto/scrip/common/v1/discount_pb";
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
import {
  type CommitOutcome,
  CountMeasure,
  type CountSchema,
  RedemptionCommandSchema,
  type RedemptionPartSchema,
  RedemptionService,
} from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import {
  type CreateVoucherRequestSchema,
  type Voucher,
  VoucherService,
  VoucherType,
} from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import {
  type Call,
  type Client,
  clientOf,
  createDirectTransport,
  type Implementation,
} from "@scrip/rpc";
import { testDatabase, type TestDatabase } from "@scrip/testing";

import type { Deps } from "../src/deps.ts";
import { createAssetCipher } from "../src/image/asset-cipher.ts";
import { createDefinitionCache } from "../src/loading/definition-cache.ts";
import { routes } from "../src/routes.ts";
import { MIGRATIONS, ROLE, SCHEMA } from "../src/service.ts";
import { voucherInvariants } from "../src/store/invariants.ts";

export const NOON = Date.parse("2026-11-21T12:00:00Z");

export type Fixture = AsyncDisposable & {
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
export async function startFixture(): Promise<Fixture> {
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

/** A loyalty service that knows everybody, under the id or source id that they are asked for by. */
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

/** A loyalty service whose cards have what they were made with. */
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
    newId,
    definitions: createDefinitionCache(100),
    assets: createAssetCipher(ASSET_SECRET),
    customers: clientOf(CustomerService, createDirectTransport([everybody])),
    cards: clientOf(CardService, createDirectTransport([unspent])),
    onError: () => {},
    onEvents: () => {},
  };
}

type Body = Partial<Omit<CreateVoucherRequestInit, "$typeName">>;
type CreateVoucherRequestInit = Exclude<
  MessageInitShape<typeof CreateVoucherRequestSchema>,
  { $typeName: string }
>;

export const givenDiscount = (fixture: Fixture, body: Body = {}): Promise<Voucher> =>
  fixture.vouchers.createVoucher(
    {
      code: `CODE-${randomBytes(6).toString("hex")}`,
      type: VoucherType.DISCOUNT_VOUCHER,
      discount: { type: DiscountType.PERCENT, percentOff: "10" },
      ...body,
    },
    fixture.call(),
  );

export const givenGift = (fixture: Fixture, amount: bigint, body: Body = {}): Promise<Voucher> =>
  fixture.vouchers.createVoucher(
    {
      code: `GIFT-${randomBytes(6).toString("hex")}`,
      type: VoucherType.GIFT_VOUCHER,
      gift: { amount },
      ...body,
    },
    fixture.call(),
  );

export type CommandInit = Omit<MessageInitShape<typeof RedemptionCommandSchema>, "$typeName">;

/** A command that redeems these vouchers as they were made. */
export function commandOf(
  fixture: Pick<Fixture, "projectId">,
  takes: readonly { readonly voucher: Voucher; readonly credits?: bigint }[],
  overrides: CommandInit = {},
) {
  return create(RedemptionCommandSchema, {
    projectId: fixture.projectId,
    requestId: newRequestId(),
    now: { seconds: BigInt(NOON / 1000), nanos: 0 },
    channel: { channelId: "app_1", channelType: "API" },
    parts: takes.map(({ voucher, credits = 0n }) => ({
      redeemable: { case: "voucherId" as const, value: voucher.id },
      definitionVersion: 1n,
      credits,
    })),
    ...overrides,
  });
}

export const keyOf = (key: string, hash = "hash") => ({
  key,
  requestHash: new TextEncoder().encode(hash),
});

export type Commit = (...commands: ReturnType<typeof commandOf>[]) => Promise<CommitOutcome[]>;

/** Commits one batch. */
export const committer =
  (fixture: Fixture, client: Client<typeof RedemptionService> = fixture.redemptions): Commit =>
  async (...commands) =>
    (await client.commitRedemptions({ commands }, fixture.call())).outcomes;

/** Repeats what was not decided because other batches held the voucher, as slow machines let them. */
export const persistently =
  (once: Commit): Commit =>
  async (...commands) => {
    const outcomes = await once(...commands);
    const open = commands.filter((_, position) => isHeld(outcomes[position]));
    if (open.length === 0) return outcomes;
    const later = await persistently(once)(...open);
    return outcomes.map((outcome) => (isHeld(outcome) ? (later.shift() ?? outcome) : outcome));
  };

const isHeld = (outcome: CommitOutcome | undefined): boolean =>
  outcome?.outcome.case === "rejected" && outcome.outcome.value.key === "service_unavailable";

/** The redemptions of an outcome that took something. */
export function madeOf(outcome: CommitOutcome | undefined) {
  if (outcome?.outcome.case !== "committed") {
    throw new Error(
      `not made but ${outcome?.outcome.case}: ${JSON.stringify(outcome?.outcome.value, (_, value: unknown) => (typeof value === "bigint" ? `${value}` : value))}`,
    );
  }
  return outcome.outcome.value.redemptions;
}

export function refusalOf(outcome: CommitOutcome | undefined) {
  if (outcome?.outcome.case !== "rejected")
    throw new Error(`not refused but ${outcome?.outcome.case}`);
  return outcome.outcome.value;
}

/** A promotion tier as redemptions carry it. */
export const tierOf = (id: string, campaignId = "camp_tiers") => ({
  redeemable: {
    case: "promotionTier" as const,
    value: {
      id,
      name: `Tier ${id}`,
      hierarchy: 1n,
      action: { discount: { type: DiscountType.PERCENT, percentOff: "10" } },
      campaign: { id: campaignId, name: "Tiers", active: true },
    },
  },
  campaignId,
});

type PartInit = MessageInitShape<typeof RedemptionPartSchema>;

export const voucherPart = (voucher: Voucher, overrides: PartInit = {}) => ({
  redeemable: { case: "voucherId" as const, value: voucher.id },
  definitionVersion: 1n,
  ...overrides,
});

/** A stack: several parts in one command. */
export const stackOf = (
  fixture: Pick<Fixture, "projectId">,
  parts: readonly PartInit[],
  overrides: CommandInit = {},
) => commandOf(fixture, [], { parts: [...parts], ...overrides });

/** At most `limit` redemptions of a scope, by one customer when named. */
export const limitOf = (
  scope: NonNullable<MessageInitShape<typeof CountSchema>["scope"]>,
  limit: number,
  about: { readonly customerId?: string; readonly refusal?: string } = {},
) => ({
  count: {
    scope,
    measure: CountMeasure.REDEMPTIONS,
    ...(about.customerId !== undefined && { customerId: about.customerId }),
  },
  add: 1n,
  conditions: { $less_than_or_equal: [limit] },
  ...(about.refusal !== undefined && {
    rejection: { code: 400, key: about.refusal, message: "too often" },
  }),
});

/** Fails when anything does not hold that must hold of the books, whatever happened. */
export async function checkInvariants({ db, projectId }: Fixture): Promise<void> {
  const request = { projectId, after: "", limit: 100_000 };
  const chunks = await Promise.all(
    voucherInvariants.map(({ checkChunk }) => checkChunk(db, request)),
  );
  const violations = chunks.flatMap((chunk) => chunk.violations);
  if (violations.length > 0) throw new Error(`broken: ${JSON.stringify(violations.slice(0, 5))}`);
}

/** Numbers that are the same in each run. */
export function createDice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % sides;
  };
}

/** What a service's own callers do: so many batches are under way at a time. */
const LANES = 9;

/**
 * Commits these batches through several processes at once, and answers the outcomes in the order of
 * the batches.
 */
export async function race(
  fixture: Fixture,
  batches: readonly (readonly ReturnType<typeof commandOf>[])[],
): Promise<readonly CommitOutcome[]> {
  const commits = [fixture.redemptions, fixture.replica(), fixture.replica()].map((client) =>
    persistently(committer(fixture, client)),
  );
  const open = batches.entries();
  const outcomes: CommitOutcome[][] = [];
  const lane = async (index: number): Promise<void> => {
    const commit = commits[index % commits.length] ?? committer(fixture);
    for (const [position, batch] of open) outcomes[position] = await commit(...batch);
  };
  await Promise.all(Array.from({ length: LANES }, (_, index) => lane(index)));
  return outcomes.flat();
}
