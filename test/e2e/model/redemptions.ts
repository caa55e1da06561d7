import fc from "fast-check";
import { expect } from "vitest";

import { type ApiResponse, type Json, newCode } from "../../stack/api.ts";
import { type Command, expectResponse, hasVouchers, type Model, pickFrom } from "./command.ts";
import { keys } from "./definitions.ts";
import * as product from "./real-system.ts";
import { change, evaluate, lock, redeem, type Request, usesOf } from "./reference.ts";

const requests = fc.record({
  picks: fc.uniqueArray(fc.nat({ max: 4 }), { minLength: 1, maxLength: 4, size: "max" }),
  amount: fc.constantFrom(0, 99, 100, 250, 1_000, 5_000),
  key: fc.option(keys, { freq: 2 }),
  credits: fc.option(fc.constantFrom(0, 60, 400), { freq: 2 }),
});
type Drawn = { readonly picks: readonly number[] } & Omit<Request, "vouchers">;

/** A request for the drawn vouchers, each once. */
function requestOf({ state }: Model, { picks, ...rest }: Drawn): Request {
  const vouchers = [...new Set(picks.map((pick) => pickFrom(state.vouchers, pick)))];
  // Only gift cards accept credits.
  const areGifts = vouchers.every((voucher) => "loaded" in state.vouchers[voucher]!.gives);
  return { ...rest, vouchers, credits: areGifts ? rest.credits : null };
}

const validate = requests.map((drawn): Command => ({
  check: hasVouchers,
  async run(model, real) {
    const request = requestOf(model, drawn);
    expectValidated(model, request, await product.validate(real, request));
  },
  toString: () => `validate(${JSON.stringify(drawn)})`,
}));

function expectValidated(model: Model, request: Request, response: ApiResponse): void {
  const { error, parts, discount } = evaluate(model.state, request);
  const { body, text } = response;
  expectResponse(response, null);
  const failed = body["redeemables"].find(({ status }: Json) => status === "INAPPLICABLE");
  const shown = [body["valid"], failed?.result.error.key ?? null];
  expect(shown, text).toEqual([error === null, error]);
  if (error !== null) return;
  expect(body["order"].total_discount_amount, text).toBe(discount);
  if (request.key !== null) model.state = lock(model.state, request.key, parts);
}

/** How a redemption is sent to the system. */
export type Sending = {
  readonly name: string;
  readonly check: (model: Readonly<Model>) => boolean;
  readonly send: (
    model: Model,
    real: product.RealSystem,
    once: () => Promise<ApiResponse>,
  ) => Promise<ApiResponse>;
};

export const redeemBy = ({ name, check, send }: Sending): fc.Arbitrary<Command> =>
  fc.tuple(requests, fc.constantFrom(true, false, false)).map(([drawn, isAlone]): Command => ({
    check,
    async run(model, real) {
      const request = requestOf(model, isAlone ? { ...drawn, picks: [drawn.picks[0]!] } : drawn);
      const options = { single: isAlone, idempotencyKey: newCode("key") };
      const once = (): Promise<ApiResponse> => product.redeem(real, request, options);
      expectRedeemed(model, real, { request, response: await send(model, real, once) });
    },
    toString: () => `${name}(${JSON.stringify(drawn)}${isAlone ? ", alone" : ""})`,
  }));

function expectRedeemed(
  model: Model,
  real: product.RealSystem,
  { request, response }: { readonly request: Request; readonly response: ApiResponse },
): void {
  const { error, parts, discount } = evaluate(model.state, request);
  expectResponse(response, error);
  if (error !== null) return;
  model.state = redeem(model.state, request, parts);
  real.redemptions.push(product.orderRedemptionOf(response)["id"]);
  const { body, text } = response;
  const order = body["order"];
  expect(order.total_discount_amount, text).toBe(discount);
  const shown = product.redemptionsOf(response).map(({ voucher, amount }) => ({
    code: voucher.code,
    credits: amount ?? 0,
    uses: voucher.redemption.redeemed_quantity,
  }));
  const expected = parts.map(({ voucher, credits }) => ({
    code: real.codes[voucher],
    credits,
    uses: usesOf(model.state, voucher),
  }));
  expect(shown, text).toEqual(expected);
}

const redeemOnce = redeemBy({
  name: "redeem",
  check: hasVouchers,
  send: (_model, _real, once) => once(),
});

/** With one idempotency key: the second response is byte-equal and has no effect. */
const redeemTwice = redeemBy({ name: "redeemTwice", check: hasVouchers, send: sendTwice });

async function sendTwice(
  _model: Model,
  _real: product.RealSystem,
  once: () => Promise<ApiResponse>,
): Promise<ApiResponse> {
  const first = await once();
  expect((await once()).text).toBe(first.text);
  return first;
}

const rollBack = fc.nat({ max: 9 }).map((drawn): Command => ({
  check: ({ state }) => state.redemptions.length > 0,
  async run(model, real) {
    const { redemptions } = model.state;
    const position = pickFrom(redemptions, drawn);
    const { rolledBack, parts } = redemptions[position]!;
    const kind = parts.length === 1 && drawn % 2 === 0 ? "rollback" : "rollbacks";
    const response = await real.api.post(`/v1/redemptions/${real.redemptions[position]}/${kind}`);
    expectResponse(response, rolledBack ? "already_rolled_back" : null);
    const changed = change(redemptions, position, { rolledBack: true });
    model.state = { ...model.state, redemptions: changed };
  },
  toString: () => `rollBack(${drawn})`,
}));

export const REDEMPTIONS: readonly fc.Arbitrary<Command>[] = [
  validate,
  validate,
  redeemOnce,
  redeemOnce,
  redeemTwice,
  rollBack,
];
