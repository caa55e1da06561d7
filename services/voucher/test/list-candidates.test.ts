import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  type CandidateResult,
  CandidateQuerySchema,
  CandidateService,
} from "@scrip/proto/scrip/voucher/v1/candidates_pb";
import { VoucherType } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { clientOf, createDirectTransport } from "@scrip/rpc";
import { afterAll, beforeEach, describe, expect, test } from "vitest";

import { routes } from "../src/routes.ts";
import { depsOf, NOON, startTestService } from "./deps.ts";

const service = await startTestService();
afterAll(() => service[Symbol.asyncDispose]());
const candidates = clientOf(CandidateService, createDirectTransport(routes(depsOf(service.db))));

type Query = Omit<MessageInitShape<typeof CandidateQuerySchema>, "$typeName">;

const queryOf = (query: Query = {}) =>
  create(CandidateQuerySchema, {
    projectId: "p",
    standaloneTypes: [VoucherType.DISCOUNT_VOUCHER, VoucherType.GIFT_VOUCHER],
    limit: 100n,
    now: { seconds: BigInt(NOON / 1000), nanos: 0 },
    timeZone: "UTC",
    ...query,
  });

async function ask(query: Query = {}): Promise<CandidateResult> {
  const { results } = await candidates.listCandidates(
    { queries: [queryOf(query)] },
    service.call(),
  );
  const [page] = results;
  if (page === undefined) throw new Error("no result");
  return page;
}

const idsOf = ({ candidates: found }: CandidateResult): (string | undefined)[] =>
  found.map(({ voucher }) => voucher?.voucher?.id);

/** Every page, one after the other. */
async function askOn(query: Query = {}): Promise<(string | undefined)[][]> {
  const pages: (string | undefined)[][] = [];
  let page = await ask(query);
  pages.push(idsOf(page));
  while (page.next !== undefined && pages.length < 100) {
    page = await ask({ ...query, after: page.next });
    pages.push(idsOf(page));
  }
  return pages;
}

type VoucherColumns = {
  readonly columns?: string;
  readonly values?: string;
  readonly usage?: string;
};

/** Vouchers `from` to `to`, one a second, the higher the newer. */
async function insertVouchers(from: number, to: number, more: VoucherColumns = {}): Promise<void> {
  const { columns = "", values = "", usage = "null, 0" } = more;
  await service.db.query(
    `insert into voucher (project_id, id, code, code_key, type, discount, metadata, asset_id,
            is_referral_code, created_at, definition_version${columns})
     select 'p', 'v_' || lpad(n::text, 18, '0'), 'C' || n, 'C' || n, 'DISCOUNT_VOUCHER',
            '{"type": "PERCENT", "percent_off": "10"}', '{}', 'a', false,
            '2026-01-01'::timestamptz + n * interval '1 second', 1${values}
       from generate_series($1::int, $2::int) n`,
    [from, to],
  );
  await service.db.query(
    `insert into voucher_usage (project_id, voucher_id, definition_version, quantity,
            redeemed_quantity)
     select 'p', 'v_' || lpad(n::text, 18, '0'), 1, ${usage}
       from generate_series($1::int, $2::int) n`,
    [from, to],
  );
}

const id = (n: number): string => `v_${String(n).padStart(18, "0")}`;
const held = { columns: ", holder_id", values: ", 'ann'" };

describe("candidates", () => {
  beforeEach(async () => {
    await service.db.query("delete from voucher");
    await service.db.query("delete from voucher_usage");
  });

  test("returns candidates of all sources newest first, each once", async () => {
    await insertVouchers(1, 3);
    await insertVouchers(4, 6, held);
    await insertVouchers(7, 7, {
      columns: ", campaign_id, campaign_name, campaign_type",
      values: ", 'camp_1', 'one', 'DISCOUNT_COUPONS'",
    });
    expect(idsOf(await ask())).toEqual([3, 2, 1].map(id));
    expect(idsOf(await ask({ holderId: "ann" }))).toEqual([6, 5, 4, 3, 2, 1].map(id));
    expect(idsOf(await ask({ standaloneTypes: [], holderId: "ann" }))).toEqual([6, 5, 4].map(id));
    expect(idsOf(await ask({ publicCampaignIds: ["camp_1"] }))).toEqual([7, 3, 2, 1].map(id));
    expect(idsOf(await ask({ standaloneTypes: [VoucherType.GIFT_VOUCHER] }))).toEqual([]);
    expect(await askOn({ holderId: "ann", limit: 2n })).toEqual([
      [id(6), id(5)],
      [id(4), id(3)],
      [id(2), id(1)],
      [],
    ]);
  });

  test("continues between vouchers that were created at the same instant", async () => {
    await insertVouchers(1, 5);
    await service.db.query("update voucher set created_at = '2026-02-01'");
    expect((await askOn({ limit: 2n })).flat()).toEqual([5, 4, 3, 2, 1].map(id));
    const after = { createdAt: { seconds: BigInt(Date.parse("2026-02-01") / 1000), nanos: 0 } };
    expect(idsOf(await ask({ after }))).toEqual([]);
  });

  test("reads a thousand vouchers per page, even if most cannot be redeemed", async () => {
    await insertVouchers(1, 2);
    await insertVouchers(3, 2_502, { usage: "1, 1" });
    const pages = await askOn();
    expect(pages).toEqual([[], [], [id(2), id(1)]]);
    const named = await ask({ codes: ["C1", id(2), "C3", "none"] });
    expect([idsOf(named), named.next]).toEqual([[id(2), id(1)], undefined]);
  });

  test("returns only candidates that match the filters", async () => {
    await insertVouchers(1, 1_500);
    const is = (...values: string[]) => ({ conditions: { $is: values } });
    const code = is("C1500", "C7");
    expect(await askOn({ filters: { code } })).toEqual([[id(1500)], [id(7)]]);
    expect(await askOn({ filters: { resource_id: is(id(1499)) } })).toEqual([[id(1499)], []]);
    expect((await askOn({ filters: { holder_role: is("OWNER") } })).flat()).toEqual([]);
    await expect(ask({ filters: { colour: is("red") } })).rejects.toThrow("Invalid payload");
  });

  test("returns the results of many queries in their order", async () => {
    await insertVouchers(1, 2);
    await insertVouchers(3, 3, held);
    const queries = [queryOf(), queryOf({ holderId: "ann" }), queryOf({ projectId: "other" })];
    const { results } = await candidates.listCandidates({ queries }, service.call());
    expect(results.map(idsOf)).toEqual([[id(2), id(1)], [id(3), id(2), id(1)], []]);
  });
});
