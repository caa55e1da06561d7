import { expect, test } from "vitest";

import { statusOf } from "./redeemable-status.ts";
import type { VoucherUsage } from "./usage.ts";
import type { VoucherDefinition } from "./voucher.ts";

const NOW = 1_000_000;
const usage = { quantity: null, redeemedQuantity: 0n, balance: null } as VoucherUsage;

type UsageFields = Partial<VoucherUsage> & {
  readonly active?: boolean | null;
  readonly from?: number;
  readonly to?: number;
  readonly points?: bigint;
  readonly isCampaignActive?: boolean;
};

test.each<readonly [string, UsageFields]>([
  ["ACTIVE", {}],
  ["ACTIVE", { active: null, from: NOW, to: NOW, quantity: 1n }],
  ["DISABLED", { active: false, to: NOW - 1, from: NOW + 1, quantity: 0n, balance: 0n }],
  ["DISABLED", { isCampaignActive: false, to: NOW - 1 }],
  ["EXPIRED", { to: NOW - 1, from: NOW + 1, quantity: 0n, balance: 0n }],
  ["NOT_ACTIVE_YET", { from: NOW + 1, quantity: 0n, balance: 0n }],
  ["USED", { quantity: 2n, redeemedQuantity: 2n, balance: 0n }],
  ["NO_BALANCE", { quantity: 2n, redeemedQuantity: 1n, balance: 0n }],
  ["NO_BALANCE", { points: 0n }],
  ["ACTIVE", { points: 1n }],
  ["ACTIVE", { balance: 1n }],
])("%s: %o", (status, { active = true, from, to, points, isCampaignActive = true, ...left }) => {
  const definition = {
    active,
    validity: { startDate: from ?? null, expirationDate: to ?? null },
  } as VoucherDefinition;
  const context = { now: NOW, points: points ?? null, isCampaignActive };
  expect(statusOf(definition, { ...usage, ...left }, context)).toBe(status);
});
