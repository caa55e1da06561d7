import { expect } from "vitest";

import type { TestService } from "./deps.ts";

/** Checks the invariants of a voucher (docs/operations.md#invariants) and returns its figures. */
export async function invariantsOf({ db, projectId }: TestService, voucherId: string) {
  const { rows } = await db.query<{
    redeemed: bigint;
    quantity: bigint | null;
    amount: bigint | null;
    balance: bigint;
    redemptions: bigint;
    spent: bigint;
    events: bigint;
  }>(
    `select redeemed_quantity as redeemed, quantity, amount, coalesce(balance, 0) as balance,
            (select count(*) from redemption r where (r.project_id, r.voucher_id) = (u.project_id, u.voucher_id) and status = 'SUCCEEDED') as redemptions,
            (select coalesce(sum(amount), 0)::int8 from redemption r where (r.project_id, r.voucher_id) = (u.project_id, u.voucher_id) and status = 'SUCCEEDED') as spent,
            (select count(*) from outbox o where (o.project_id, o.key) = (u.project_id, u.voucher_id)) as events
       from voucher_usage u where project_id = $1 and voucher_id = $2`,
    [projectId, voucherId],
  );
  const [usage] = rows;
  if (usage === undefined) throw new Error("no such voucher");
  expect(usage.redemptions).toBe(usage.redeemed);
  expect(usage.events).toBe(usage.redeemed);
  if (usage.quantity !== null) expect(usage.redeemed <= usage.quantity).toBe(true);
  const { rows: ledger } = await db.query<{
    version: bigint;
    amount: bigint;
    balance_after: bigint;
  }>(
    "select version, amount, balance_after from voucher_ledger_entry where project_id = $1 and voucher_id = $2 order by version",
    [projectId, voucherId],
  );
  let balance = 0n;
  for (const [index, entry] of ledger.entries()) {
    balance += entry.amount;
    expect(entry).toEqual({
      version: BigInt(index + 1),
      amount: entry.amount,
      balance_after: balance,
    });
  }
  expect(usage.balance).toBe(balance);
  if (usage.amount !== null) expect(usage.balance).toBe(usage.amount - usage.spent);
  return usage;
}
