import { fork } from "node:child_process";

import { query } from "../postgres.ts";
import { freePort } from "../standalone.ts";
import { DISCOUNT, HOT_CODE, RACE_CODE, randomCode, SUBTOTAL } from "./cart.ts";
import type { Action, Contender, Race } from "./contender.ts";
import { drive, LimitReached, race } from "./drive.ts";
import { CARTS, cartToken, PAYMENT_METHOD, prepareShop, send } from "./vendure-shop.ts";

/** Starts a Vendure server in a process of its own; the calls of its shop API come from this one. */
export async function startVendure(databaseUrl: string): Promise<Contender> {
  const port = await freePort();
  const child = fork(new URL("vendure-process.ts", import.meta.url), {
    env: {
      ...process.env,
      NODE_ENV: "production",
      VENDURE_DISABLE_TELEMETRY: "true",
      PORT: String(port),
      DATABASE_URL: databaseUrl,
    },
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  await new Promise((resolve, reject) => {
    child.once("message", resolve);
    child.once("exit", () => reject(new Error("the process of Vendure ended early")));
  });
  const url = `http://127.0.0.1:${port}`;
  await prepareShop(url, databaseUrl);
  const shop: Shop = { url: `${url}/shop-api`, nextCart: cartCounter() };
  const operations: Readonly<Record<Action, () => Promise<void>>> = {
    validate: () => apply(shop, shop.nextCart(), randomCode()),
    redeem: () => redeem(shop, randomCode()),
    "redeem one code": () => redeem(shop, HOT_CODE),
  };
  return {
    name: "Vendure",
    pid: child.pid ?? 0,
    measure: ({ action, clients, seconds }) =>
      drive({ clients, seconds, operation: operations[action] }),
    race: (attempts) => raceForLimit(shop, databaseUrl, attempts),
    [Symbol.asyncDispose]: async () => {
      const exited = new Promise((resolve) => {
        child.once("exit", resolve);
      });
      child.disconnect();
      await exited;
    },
  };
}

type Shop = {
  readonly url: string;
  /** The session of a cart that was not used before. */
  readonly nextCart: () => string;
};

function cartCounter(): () => string {
  let used = 0;
  return () => {
    used += 1;
    if (used > CARTS) throw new Error("all carts are used");
    return cartToken(used);
  };
}

/** What a shop's checkout does with a coupon: applies it to the cart, and has the order paid. */
async function redeem(shop: Shop, code: string): Promise<void> {
  const token = shop.nextCart();
  await apply(shop, token, code);
  await pay(shop, token);
}

async function apply({ url }: Shop, token: string, code: string): Promise<void> {
  const { data } = await send(url, { query: APPLY, variables: { code }, token });
  check(data["applyCouponCode"]);
}

async function pay({ url }: Shop, token: string): Promise<void> {
  const variables = { method: PAYMENT_METHOD };
  const { data } = await send(url, { query: PAY, variables, token });
  check(data["addPaymentToOrder"]);
  if (data["addPaymentToOrder"]?.state !== "PaymentSettled") throw new Error("not paid");
}

const APPLY = `mutation ($code: String!) {
  applyCouponCode(couponCode: $code) {
    ... on Order { totalWithTax }
    ... on ErrorResult { errorCode message }
  }
}`;

const PAY = `mutation ($method: String!) {
  transitionOrderToState(state: "ArrangingPayment") {
    ... on ErrorResult { errorCode message }
  }
  addPaymentToOrder(input: { method: $method, metadata: {} }) {
    ... on Order { state totalWithTax }
    ... on ErrorResult { errorCode message }
  }
}`;

const LIMIT_ERRORS = new Set(["COUPON_CODE_LIMIT_ERROR", "COUPON_REMOVED_DURING_CHECKOUT_ERROR"]);

type Checked = {
  readonly errorCode?: string;
  readonly message?: string;
  readonly totalWithTax?: number;
};

/** Fails unless the cart has the discount. */
function check({ errorCode, message, totalWithTax }: Checked = {}): void {
  if (errorCode !== undefined) {
    throw LIMIT_ERRORS.has(errorCode) ? new LimitReached() : new Error(`${errorCode}: ${message}`);
  }
  if (totalWithTax !== SUBTOTAL - DISCOUNT) {
    throw new Error(`the discount of Vendure differs: the total is ${totalWithTax}`);
  }
}

async function raceForLimit(shop: Shop, databaseUrl: string, attempts: number): Promise<Race> {
  const outcomes = await race(attempts, () => redeem(shop, RACE_CODE));
  const [row] = await query<{ stored: string }>(
    databaseUrl,
    `select count(*) as stored
       from "order"
       join order_promotions_promotion as used on used."orderId" = "order".id
       join promotion on promotion.id = used."promotionId"
      where promotion."couponCode" = '${RACE_CODE}' and "order".state = 'PaymentSettled'`,
  );
  return { ...outcomes, repeated: 0, stored: Number(row?.stored) };
}
