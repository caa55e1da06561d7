import { filterCondition } from "@scrip/filters";
import { createDatabase } from "@scrip/postgres";
import { asAdmin, entriesRead } from "@scrip/testing";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";

import { codeKeyOf } from "../src/domain/voucher.ts";
import { ROLE, SCHEMA } from "../src/service.ts";
import { indexedVoucherFilters, voucherFilters } from "../src/store/voucher-filters.ts";
import { listVouchers } from "../src/store/voucher-lists.ts";
import { startTestService } from "./deps.ts";

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

/** Codes of a project that begin with one of these. */
async function begin(projectId: string, beginnings: readonly string[], fields = voucherFilters) {
  const values: unknown[] = [projectId];
  const filters = { code: { conditions: { $starts_with: beginnings } } };
  const call = { now: 0, project: { timeZone: "UTC", firstWeekday: 1 } } as never;
  const { vouchers, total } = await listVouchers(db, {
    projectId,
    conditions: [filterCondition(filters, { fields, call, values })],
    values,
    order: { by: "code", descending: false },
    page: { limit: 100, offset: 0 },
  });
  return { codes: vouchers.map(({ definition }) => definition.code), total };
}

// Letters with several forms, neighbours of letters in ASCII, and letters beyond it.
const letter = fc.constantFrom(
  ..."aAbBiIkKzZ09-_@[`{~ %\\",
  "\u0130",
  "\u0307",
  "\u212A",
  "é",
  "É",
  "ß",
  "😀",
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
        expect(await begin(projectId, beginnings, indexedVoucherFilters)).toEqual(
          await begin(projectId, beginnings),
        );
      },
    );
    await fc.assert(found, { numRuns: 60 });
  },
);

test("codes that begin with a text are read from their index", async () => {
  const codes = Array.from(
    { length: ROWS },
    (_, index) => `Ready-${String(index).padStart(6, "0")}`,
  );
  await insert("proj_many", [...codes, "rare-1", "RARE-2"], true);
  const read = async (fields: typeof voucherFilters) => {
    const before = await entriesRead(db, "voucher");
    expect(await begin("proj_many", ["Rare-"], fields)).toEqual({
      codes: ["RARE-2", "rare-1"],
      total: 2n,
    });
    return (await entriesRead(db, "voucher")) - before;
  };
  expect(await read(indexedVoucherFilters)).toBeLessThan(50);
  expect(await read(voucherFilters)).toBeGreaterThan(ROWS);
});
