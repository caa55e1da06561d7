import assert from "node:assert/strict";

import { createEventBus, type EventBus, eventMessage } from "@scrip/events";
import { RedemptionMadeSchema } from "@scrip/proto/scrip/events/v1/redemptions_pb";

import { type ApiResponse, inParallel, newCode, untilAdmitted } from "../stack/api.ts";
import { balanceOf } from "../stack/loyalty-program.ts";
import { ok } from "../stack/rule-builders.ts";
import type { Fault } from "./fault.ts";
import { createEarningProgram, POINTS, until } from "./shop.ts";

const QUANTITY = 100;
const REQUESTS = 10_000;
const SHORT_REQUESTS = 2_000;
const WIDTH = 200;
const CLOSE_MS = 10_000;

export const oneCode: Fault = {
  id: "F01",
  title: "Concurrent redemptions of one code, at three processes of voucher",
  criterion:
    "exactly as many succeed as its quantity, the others are rejected; one event and one accrual each",
  inEveryRun: true,
  buses: ["postgres"],
  setup: { composition: "distributed", replicas: { voucher: 3 } },
  async run({ stack, shop: { api } }, { full, report }) {
    const code = newCode("RACE");
    const discount = { type: "AMOUNT", amount_off: 100 };
    const redemption = { quantity: QUANTITY };
    await ok(api.post("/v1/vouchers", { code, type: "DISCOUNT_VOUCHER", discount, redemption }));
    const card = await (await createEarningProgram(api)).createCard();
    const times: number[] = [];
    const redeem = async (): Promise<ApiResponse> => {
      const startedAt = performance.now();
      const order = { source_id: newCode("order"), amount: 1_000 };
      const response = await api.post(`/v1/vouchers/${code}/redemption`, {
        order,
        customer: card.customer,
      });
      times.push(performance.now() - startedAt);
      return response;
    };
    const requests = Array.from({ length: full ? REQUESTS : SHORT_REQUESTS });
    const responses = await inParallel(requests, WIDTH, () => untilAdmitted(redeem));
    const counts = new Map<string, number>();
    for (const { status, body } of responses) {
      const name = `${status} ${body["key"] ?? ""}`.trim();
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    const responsesOf = [...counts].map(([name, n]) => `${n} × ${name}`).join(", ");
    report(`${responsesOf}; ${describeTimes(times)}`);
    assert.deepEqual(
      Object.fromEntries(counts),
      { "200": QUANTITY, "400 quantity_exceeded": requests.length - QUANTITY },
      "other responses",
    );
    const succeeded = responses.filter(({ status }) => status === 200).map(({ body }) => body);
    const redeemedAfter = succeeded.map(
      ({ voucher }) => voucher.redemption.redeemed_quantity as number,
    );
    assert.deepEqual(
      redeemedAfter.toSorted((a, b) => a - b),
      Array.from({ length: QUANTITY }, (_, at) => at + 1),
    );
    await until(async () => (await balanceOf(api, card)) >= QUANTITY * POINTS);
    const ids = new Set(succeeded.map((body) => body["id"] as string));
    assert(ids.size === QUANTITY, "redemptions with the same id");
    const events = await countEvents(stack.databaseUrl, ids);
    report(`${events} events, ${(await balanceOf(api, card)) / POINTS} accruals`);
    assert(events === QUANTITY, "events were lost or doubled");
    assert((await balanceOf(api, card)) === QUANTITY * POINTS, "accruals were lost or doubled");
  },
};

function describeTimes(times: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (part: number): string => (sorted[Math.floor(sorted.length * part)] ?? 0).toFixed(0);
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`;
}

/** How many different events of the log announce these redemptions. */
async function countEvents(url: string, redemptions: ReadonlySet<string>): Promise<number> {
  const bus: EventBus = await createEventBus({ kafka: undefined, url, onError: () => {} });
  try {
    const found = new Set<string>();
    const announced = new Set<string>();
    await bus.subscribe({
      group: newCode("events"),
      topics: ["scrip.redemptions.v1"],
      handler: async (batch) => {
        for (const event of batch) {
          const id = eventMessage(event, RedemptionMadeSchema)?.redemptionId ?? "";
          if (!redemptions.has(id)) continue;
          found.add(event.id);
          announced.add(id);
        }
      },
    });
    await until(async () => announced.size === redemptions.size);
    return found.size;
  } finally {
    await bus.close(CLOSE_MS);
  }
}
