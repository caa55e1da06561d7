import { afterAll, expect, test } from "vitest";

import { startLoyalty } from "./deps.ts";
import { earningIn } from "./earning-programs.ts";
import { tiersIn, voucherOf } from "./tier-programs.ts";

const loyalty = await startLoyalty();
afterAll(() => loyalty[Symbol.asyncDispose]());
const { db, rewards } = loyalty;
const { join } = earningIn(loyalty);
const { program } = tiersIn(loyalty);

const COUNT = 2_500n;

test("affordable rewards of a large program are listed page by page, also those created at one time", async () => {
  const club = await program([]);
  const { projectId, campaignId, call } = club;
  await db.query(
    `with created as (
       insert into reward (project_id, id, type, parameters, attributes, metadata, created_at)
       select $1, 'rew_' || n, 'MATERIAL', '{"product":{"id":"prod_1","sku_id":null}}', '{}', '{}', now()
         from generate_series(1, $3::int) n)
     insert into reward_assignment (project_id, id, reward_id, campaign_id, points, created_at)
     select $1, 'rewa_' || lpad(n::text, 5, '0'), 'rew_' || n, $2, n, timestamptz '2026-01-01' + n / 100 * interval '1 s'
       from generate_series(1, $3::int) n`,
    [projectId, campaignId, COUNT],
  );
  const { cardId } = await join(club);
  await club.deliver();
  await club.move(cardId, 2_150n);
  const member = {
    memberId: cardId,
    voucher: voucherOf(cardId, campaignId),
    affordableOnly: true,
    limit: 100n,
  };
  const pages = await Promise.all(
    [1n, 11n, 21n, 22n, 23n].map((page) => rewards.listMemberRewards({ ...member, page }, call)),
  );
  const points = pages.map(({ data }) =>
    data.map(({ assignment }) => assignment?.parameters?.loyalty?.points),
  );
  const page = (first: bigint, length: number) =>
    Array.from({ length }, (_, index) => first - BigInt(index));
  expect(points).toEqual([
    page(2_150n, 100),
    page(1_150n, 100),
    page(150n, 100),
    page(50n, 50),
    [],
  ]);
  expect(new Set(pages.map(({ total }) => total))).toEqual(new Set([2_150n]));
});
