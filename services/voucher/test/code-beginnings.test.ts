import { create } from "@bufbuild/protobuf";
import { filterCondition } from "@scrip/filters";
import { createDatabase } from "@scrip/postgres";
import { ListVouchersRequestSchema } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { asAdmin, entriesRead } from "@scrip/testing";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";

import { codeKeyOf } from "../src/domain/voucher.ts";
import { listVouchers } from "../src/handlers/list-vouchers.ts";
import { ROLE, SCHEMA } from "../src/service.ts";
import { voucherFilters } from "../src/store/voucher-filters.ts";
import { listVouchers as listStored } from "../src/store/voucher-lists.ts";
import { depsOf, startTestService } from "./deps.ts";

const ROWS = 20_000;

const service = await startTestService();
const db = createDatabase({
  url: service.db.url,
  schema: SCHEMA,
  role: ROLE,
  poolSize: 1,
  onError: () => {},
});
afterAll(async () => {
  await db.close();
  await service[Symbol.asyncDispose]();
});

const insert = (projectId: string, codes: readonly string[], caseSensitive: boolean) =>
  asAdmin(service.db.url, async (client) => {
    await client.query(
      `insert into voucher.voucher (project_id, id, code, code_key, type, discount, metadata, asset_id,
              is_referral_code, created_at, definition_version, publish_count)
       select $1, 'v_' || n, code, key, 'DISCOUNT_VOUCHER', '{}', '{}', 'a', false, now(), 1, 0
         from unnest($2::text[], $3::text[]) with ordinality as item (code, key, n)`,
      [projectId, codes, codes.map((code) => codeKeyOf(code, caseSensitive))],
    );
    await client.query(
      `insert into voucher.voucher_usage (project_id, voucher_id, definition_version, redeemed_quantity)
       select project_id, id, 1, 0 from voucher.voucher where project_id = $1`,
      [projectId],
    );
    await client.query("vacuum analyze voucher.voucher");
  });

const filtersOf = (beginnings: readonly string[]) => ({
  code: { conditions: { $starts_with: [...beginnings] } },
});

/** Codes of a project that begin with one of these, as a request finds them. */
async function find(projectId: string, beginnings: readonly string[], codesSortByBytes = true) {
  const call = { ...service.call(), project: { ...service.call().project, id: projectId } };
  const list = listVouchers({ ...depsOf(service.db), db, codesSortByBytes });
  const request = { order: "code", limit: 100n, filters: filtersOf(beginnings) };
  const { vouchers, total } = await list(create(ListVouchersRequestSchema, request), call);
  return { codes: vouchers.map(({ code }) => code), total };
}

/** As above, by a comparison of all codes. */
async function compare(projectId: string, beginnings: readonly string[]) {
  const values: unknown[] = [projectId];
  const fields = voucherFilters;
  const { vouchers, total } = await listStored(db, {
    projectId,
    conditions: [filterCondition(filtersOf(beginnings), { fields, call: service.call(), values })],
    values,
    order: { by: "code", descending: false },
    page: { limit: 100, offset: 0 },
  });
  return { codes: vouchers.map(({ definition }) => definition.code), total };
}

// Letters with several forms, neighbours of letters in ASCII, and letters beyond it.
const letter = fc.oneof(
  fc.constantFrom(
    "a",
    "A",
    "b",
    "i",
    "I",
    "k",
    "K",
    "Z",
    "0",
    "-",
    "_",
    "@",
    "[",
    "`",
    "{",
    "~",
    " ",
    "%",
    "\\",
  ),
  fc.constantFrom("\u0130", "\u0307", "\u212A", "é", "É", "ß", "😀"),
);
const code = fc.string({ unit: letter, minLength: 1, maxLength: 6 });

test.each([true, false])(
  "the index of codes finds the same codes as a comparison of all (case sensitive: %s)",
  async (caseSensitive) => {
    const projectId = `proj_${caseSensitive}`;
    const codes = fc.sample(code, { seed: 7, numRuns: 3_000 });
    const byKey = new Map(codes.map((each) => [codeKeyOf(each, caseSensitive), each]));
    await insert(projectId, [...byKey.values()], caseSensitive);
    const found = fc.asyncProperty(
      fc.array(fc.oneof(fc.constantFrom(...codes), code), { minLength: 1, maxLength: 5 }),
      fc.nat({ max: 4 }),
      async (texts, length) => {
        const beginnings = texts.map((text) => text.slice(0, length + 1));
        expect(await find(projectId, beginnings)).toEqual(await compare(projectId, beginnings));
      },
    );
    await fc.assert(found, { numRuns: 60 });
  },
);

test("codes that begin with a text are read from their index, also if most codes begin alike", async () => {
  const common = "SummerOfDiscounts-";
  const codes = Array.from({ length: ROWS }, (_, index) => common + String(index).padStart(6, "0"));
  await insert("proj_many", [...codes, "summerOfDiscounts-00123"], true);
  const read = async (list: typeof compare) => {
    const before = await entriesRead(db, "voucher");
    expect(await list("proj_many", ["SUMMERofdiscounts-00123"])).toEqual({
      codes: codes.slice(1230, 1240).concat("summerOfDiscounts-00123"),
      total: 11n,
    });
    return (await entriesRead(db, "voucher")) - before;
  };
  expect(await read(find)).toBeLessThan(1_000);
  expect(await read((projectId, texts) => find(projectId, texts, false))).toBeGreaterThan(ROWS);
  expect(await read(compare)).toBeGreaterThan(ROWS);
});
