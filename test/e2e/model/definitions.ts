import fc from "fast-check";
import { expect } from "vitest";

import { ok } from "../../stack/rule-builders.ts";
import { type Command, expectResponse, hasVouchers, type Model, pickFrom } from "./command.ts";
import * as product from "./real-system.ts";
import { change, usesOf, type Voucher } from "./reference.ts";

/** Few, so that commands collide. */
const MAX_CAMPAIGNS = 2;
const MAX_VOUCHERS = 5;

export const keys = fc.constantFrom("one", "two");

const voucherOf = (fields: Partial<Voucher>): Voucher => ({
  gives: { off: 100 },
  quantity: null,
  active: true,
  campaign: null,
  minimum: null,
  ...fields,
});

async function createOne(model: Model, real: product.RealSystem, fields: Partial<Voucher>) {
  const voucher = voucherOf(fields);
  await product.createVoucher(real, voucher);
  model.state = { ...model.state, vouchers: [...model.state.vouchers, voucher] };
}

const createVoucher = fc
  .record({
    gives: fc.oneof(
      fc.record({ off: fc.constantFrom(50, 100, 300) }),
      fc.record({ loaded: fc.constantFrom(0, 100, 1_000) }),
    ),
    quantity: fc.option(fc.integer({ min: 1, max: 3 })),
    minimum: fc.option(fc.constantFrom(100, 200), { freq: 2 }),
  })
  .map((fields): Command => ({
    check: ({ state }) => state.vouchers.length < MAX_VOUCHERS,
    run: (model, real) => createOne(model, real, fields),
    toString: () => `createVoucher(${JSON.stringify(fields)})`,
  }));

/** Creates two vouchers, so that they share the limit of the campaign. */
const createCampaign = fc
  .record({ limit: fc.integer({ min: 1, max: 4 }), off: fc.constantFrom(50, 100) })
  .map(({ limit, off }): Command => ({
    check: ({ state }) => state.campaigns.length < MAX_CAMPAIGNS,
    async run(model, real) {
      const campaign = model.state.campaigns.length;
      await product.createCampaign(real, { limit, off });
      model.state = { ...model.state, campaigns: [...model.state.campaigns, { limit }] };
      await createOne(model, real, { gives: { off }, campaign });
      await createOne(model, real, { gives: { off }, campaign });
    },
    toString: () => `createCampaign(${limit}, ${off})`,
  }));

const changeLimit = fc.tuple(fc.nat(), fc.nat({ max: 5 })).map(([drawn, limit]): Command => ({
  check: ({ state }) => state.campaigns.length > 0,
  async run(model, real) {
    const { campaigns } = model.state;
    const campaign = pickFrom(campaigns, drawn);
    await product.changeLimit(real, campaign, limit);
    model.state = { ...model.state, campaigns: change(campaigns, campaign, { limit }) };
  },
  toString: () => `changeLimit(${drawn}, ${limit})`,
}));

type OnVoucher<Value> = {
  readonly name: string;
  readonly values: fc.Arbitrary<Value>;
  readonly run: (
    model: Model,
    real: product.RealSystem,
    one: { readonly voucher: number; readonly code: string; readonly value: Value },
  ) => Promise<void>;
};

const onVoucher = <Value>({ name, values, run }: OnVoucher<Value>): fc.Arbitrary<Command> =>
  fc.tuple(fc.nat({ max: 9 }), values).map(([drawn, value]): Command => ({
    check: hasVouchers,
    async run(model, real) {
      const voucher = pickFrom(model.state.vouchers, drawn);
      await run(model, real, { voucher, code: real.codes[voucher]!, value });
    },
    toString: () => `${name}(${drawn}, ${JSON.stringify(value)})`,
  }));

const setQuantity = onVoucher({
  name: "setQuantity",
  values: fc.option(fc.nat({ max: 3 })),
  async run(model, real, { voucher, code, value: quantity }) {
    const response = await real.api.put(`/v1/vouchers/${code}`, { redemption: { quantity } });
    const isTooLow = quantity !== null && quantity < usesOf(model.state, voucher);
    expectResponse(response, isTooLow ? "invalid_voucher" : null);
    if (!isTooLow) changeVoucher(model, voucher, { quantity });
  },
});

const setActive = onVoucher({
  name: "setActive",
  // Mostly enabled again, otherwise all vouchers would soon be disabled.
  values: fc.constantFrom(true, true, false),
  async run(model, real, { voucher, code, value: active }) {
    await ok(real.api.post(`/v1/vouchers/${code}/${active ? "enable" : "disable"}`));
    changeVoucher(model, voucher, { active });
  },
});

function changeVoucher(model: Model, voucher: number, to: Partial<Voucher>): void {
  model.state = { ...model.state, vouchers: change(model.state.vouchers, voucher, to) };
}

const releaseSession = onVoucher({ name: "releaseSession", values: keys, run: release });

async function release(
  model: Model,
  real: product.RealSystem,
  { voucher, code, value: key }: { voucher: number; code: string; value: string },
): Promise<void> {
  const { status, text } = await real.api.delete(
    `/v1/vouchers/${code}/sessions/${real.keyOf(key)}`,
  );
  const { locks } = model.state;
  const others = locks.filter((lock) => lock.key !== key || lock.voucher !== voucher);
  expect(status, text).toBe(others.length < locks.length ? 204 : 404);
  model.state = { ...model.state, locks: others };
}

/** A command that is listed twice runs twice as often. */
export const DEFINITIONS: readonly fc.Arbitrary<Command>[] = [
  createVoucher,
  createVoucher,
  createCampaign,
  changeLimit,
  setQuantity,
  setActive,
  releaseSession,
];
