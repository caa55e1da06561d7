import { afterAll, expect, test } from "vitest";

import { newCall, newLoyaltyCard } from "./builders.ts";
import { startLoyalty } from "./deps.ts";

const loyalty = await startLoyalty();
afterAll(() => loyalty[Symbol.asyncDispose]());
const { cards } = loyalty;

test("OpenCardSnapshot opens a snapshot, which GetCardBalances reads until the caller leaves", async () => {
  const card = newLoyaltyCard(loyalty, 500n);
  await card.hold(100n);
  const call = { ...newCall(), project: { ...newCall().project, id: card.projectId } };
  const balanceIn = async (snapshot?: string): Promise<bigint | undefined> => {
    const { balances, snapshot: read } = await cards.getCardBalances(
      { cards: [card.reference], ...(snapshot !== undefined && { snapshot }) },
      call,
    );
    expect(read).toBe(snapshot);
    return balances[0]?.balance;
  };
  let name: string | undefined;
  for await (const { snapshot } of cards.openCardSnapshot({}, call)) {
    name = snapshot;
    await card.hold(50n);
    expect(await balanceIn(snapshot)).toBe(400n);
    expect(await balanceIn()).toBe(350n);
    break;
  }
  await expect
    .poll(() => balanceIn(name).catch((error: unknown) => error))
    .toMatchObject({
      message: expect.stringContaining("snapshot"),
    });
});
