import assert from "node:assert/strict";

import { type Api, type ApiResponse, clientApi, createApi, newCode } from "../stack/api.ts";
import { ok } from "../stack/rule-builders.ts";
import type { Fault } from "./fault.ts";
import { sumOfMetric } from "./metrics.ts";
import { until } from "./shop.ts";

const GUESSES = 2_000;
const CODES = 10;
const ADDRESSES = 50;
/** Requests of one caller that are answered before it is blocked. */
const MAX_ANSWERED = 25;
/** A buyer and the shop's server send a request for each so many guesses. */
const NORMAL_EVERY = 50;
const ORDER = { order: { amount: 1_000 } };

export const guessedCodes: Fault = {
  id: "F38",
  title: "2,000 guesses of codes from one address, and from 50",
  criterion:
    "at most 25 guesses of a key are answered per address; other clients of the project are not affected; an alarm is raised",
  inEveryRun: true,
  buses: ["postgres"],
  setup: { env: { SCRIP_TRUSTED_PROXIES: "1" } },
  async run({ stack, shop: { api } }, { random, report }) {
    const client = await clientApi(stack, "https://shop.example");
    const codes = Array.from({ length: CODES }, () => newCode("REAL"));
    for (const code of codes) {
      const discount = { type: "AMOUNT", amount_off: 100 };
      await ok(api.post("/v1/vouchers", { code, type: "DISCOUNT_VOUCHER", discount }));
    }
    const from = (address: string): Api =>
      createApi(stack.url, { ...client.headers, "x-forwarded-for": address });
    const buyer = from("192.0.2.1");
    const validate = (sender: Api, code: string): Promise<ApiResponse> =>
      sender.post("/client/v1/validations", {
        redeemables: [{ object: "voucher", id: code }],
        ...ORDER,
      });
    let normal = 0;
    const assertUnaffected = async (): Promise<void> => {
      const code = codes[normal % CODES]!;
      const responses = [
        await validate(buyer, code),
        await api.post(`/v1/vouchers/${code}/validate`, ORDER),
      ];
      for (const { text, body } of responses) assert.equal(body["valid"], true, text);
      normal += responses.length;
    };
    for (const addresses of [1, ADDRESSES]) {
      const hidden = new Set(codes.map(() => Math.floor(random() * GUESSES)));
      const senders = Array.from({ length: addresses }, (_, at) =>
        from(addresses === 1 ? "198.51.100.1" : `203.0.113.${at + 1}`),
      );
      const answered = senders.map(() => 0);
      let found = 0;
      for (let guess = 0; guess < GUESSES; guess += 1) {
        const code = hidden.has(guess) ? codes[guess % CODES]! : newCode("GUESS");
        const at = guess % addresses;
        const { status, body, text } = await validate(senders[at]!, code);
        assert(status === 200 || status === 429, text);
        if (status === 200) answered[at]! += 1;
        if (body["valid"] === true) found += 1;
        if (guess % NORMAL_EVERY === 0) await assertUnaffected();
      }
      const most = Math.max(...answered);
      const all = answered.reduce((sum, count) => sum + count, 0);
      report(
        `${GUESSES} guesses from ${addresses}: ${all} answered, at most ${most} per address; ${found} of ${hidden.size} codes found`,
      );
      assert(most <= MAX_ANSWERED, "too many guesses were answered");
    }
    await until(async () => (await sumOfMetric(stack, "code_guessing_alarms")) > 0);
    const blocks = await sumOfMetric(stack, "code_guessing_blocks_total");
    report(`${normal} other requests succeeded; ${blocks} blocks, and the alarm`);
  },
};
