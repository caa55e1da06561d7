import type { JsonObject } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { DiscountType } from "@scrip/proto/scrip/common/v1/discount_pb";
import { CardService } from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import { PublicationService } from "@scrip/proto/scrip/voucher/v1/publications_pb";
import { TransactionService } from "@scrip/proto/scrip/voucher/v1/transactions_pb";
import { VoucherService, VoucherType } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { asAdmin } from "@scrip/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { createClients } from "../src/clients.ts";
import { type CardReader, createCardReader, type OwnerRow } from "../src/export/card-balances.ts";
import { fileContent } from "../src/export/file-content.ts";
import type { ExportInput } from "../src/export/parameters.ts";
import { newCall } from "./builders.ts";
import { startPlatform } from "./deps.ts";
import { addProject, exportReader } from "./export-reader.ts";

const platform = await startPlatform();
afterAll(() => platform[Symbol.asyncDispose]());
const vouchers = platform.client(VoucherService);
const publications = platform.client(PublicationService);
const transactions = platform.client(TransactionService);

const call = newCall();
beforeAll(() => addProject(platform, call));
const { rowsOf } = exportReader(platform, call);

test("the value of a loyalty card is the points that were put on it, also after its creation", async () => {
  for (const [code, points] of [
    ["NEW", 7n],
    ["USED", 10n],
  ] as const) {
    const card = { type: VoucherType.LOYALTY_CARD, loyaltyCard: { points } };
    await vouchers.createVoucher({ code, ...card }, call);
  }
  const discount = { type: DiscountType.PERCENT, percentOff: "12.5" };
  const coupon = { type: VoucherType.DISCOUNT_VOUCHER, discount };
  await vouchers.createVoucher({ code: "PERCENT", ...coupon }, call);
  const exported = async () => {
    const fields = ["code", "value", "loyalty_balance"];
    const [, ...rows] = await rowsOf("voucher", { fields, order: "code" });
    return rows;
  };
  const untouched = [
    ["NEW", "7", "7"],
    ["PERCENT", "12.5", ""],
  ];
  const [fresh, percent] = untouched;
  expect(await exported()).toEqual([fresh, percent, ["USED", "10", "10"]]);
  await publications.createPublication({ customer: { sourceId: "ann" }, voucher: "USED" }, call);
  await transactions.adjustBalance({ code: "USED", amount: 32n }, call);
  await transactions.adjustBalance({ code: "USED", amount: -2n }, call);
  expect(await exported()).toEqual([fresh, percent, ["USED", "42", "40"]]);
  const [, ...defaults] = await rowsOf("voucher", { order: "code" });
  expect(defaults.map(([code, , value]) => [code, value])).toEqual([
    ["NEW", "7"],
    ["PERCENT", "12.5"],
    ["USED", "42"],
  ]);
});

test("filters compare the value that the file shows, also that of a loyalty card that has changed", async () => {
  const card = { type: VoucherType.LOYALTY_CARD, loyaltyCard: { points: 10n } };
  const changed = "FILTERED-2";
  for (const code of ["FILTERED-1", changed]) await vouchers.createVoucher({ code, ...card }, call);
  const gift = { type: VoucherType.GIFT_VOUCHER, gift: { amount: 4250n } };
  await vouchers.createVoucher({ code: "FILTERED-GIFT", ...gift }, call);
  await publications.createPublication({ customer: { sourceId: "eve" }, voucher: changed }, call);
  await transactions.adjustBalance({ code: changed, amount: 32n }, call);
  const matching = async (value: JsonObject, junction = "and") => {
    const [, ...rows] = await rowsOf("voucher", {
      fields: ["code", "value"],
      order: "code",
      filters: {
        code: { conditions: { $starts_with: "FILTERED-" } },
        value: { conditions: value },
        junction,
      },
    });
    return rows.filter(([code]) => code?.startsWith("FILTERED-"));
  };
  const [first, second, third] = [
    ["FILTERED-1", "10"],
    ["FILTERED-2", "42"],
    ["FILTERED-GIFT", "42.50"],
  ];
  expect(await matching({ $is: 42 })).toEqual([second]);
  expect(await matching({ $is: 10 })).toEqual([first]);
  expect(await matching({ $more_than: 42 })).toEqual([third]);
  expect(await matching({ $in: [42, 42.5] })).toEqual([second, third]);
  expect(await matching({ $is: 1 }, "or")).toEqual([first, second, third]);
});

test("the points of a file are those of one snapshot", async () => {
  const card = { type: VoucherType.LOYALTY_CARD, loyaltyCard: { points: 100n } };
  const [from, to] = ["FROM", "TO"] as const;
  const rows = new Map<string, OwnerRow>();
  for (const code of [from, to]) {
    const { id } = await vouchers.createVoucher({ code, ...card }, call);
    rows.set(code, { id, voucher_type: "LOYALTY_CARD", value: "100" });
    const customer = { sourceId: `holder of ${code}` };
    await publications.createPublication({ customer, voucher: code }, call);
  }
  const rowOf = (code: string) => [rows.get(code) ?? {}];
  await transactions.adjustBalance({ code: from, amount: -1n }, call);
  const read = async (reader: CardReader, of: readonly OwnerRow[]) =>
    [...(await reader.balancesOf(of, call)).values()].map(({ balance }) => balance);
  {
    await using reader = createCardReader(platform.client(CardService), call);
    expect(await read(reader, rowOf(from))).toEqual([99n]);
    // The points reach a card of the next lookup.
    await transactions.adjustBalance({ code: from, amount: -40n }, call);
    await transactions.adjustBalance({ code: to, amount: 40n }, call);
    expect(await read(reader, rowOf(to))).toEqual([100n]);
    expect(await read(reader, rowOf(from))).toEqual([99n]);
  }
  await using later = createCardReader(platform.client(CardService), call);
  expect(await read(later, rowOf(to))).toEqual([140n]);
});

test("each row is looked up once, also when some fields need a part of the rows only", async () => {
  const cards = platform.client(CardService);
  const lookedUp: (string | undefined)[] = [];
  const counting: typeof cards = {
    ...cards,
    getCardBalances(request, own) {
      lookedUp.push(...(request.cards ?? []).map(({ cardId }) => cardId));
      return cards.getCardBalances(request, own);
    },
  };
  await using reader = createCardReader(counting, call);
  const rows = ["c_1", "c_2", "c_3"].map((id) => ({
    id,
    voucher_type: "LOYALTY_CARD",
    value: "1",
  }));
  const [first, second] = rows;
  const matching = rows.slice(1);
  const [all, part] = await Promise.all([
    reader.balancesOf(rows.slice(0, 2), call),
    reader.balancesOf(rows.slice(0, 2), call),
  ]);
  expect([...all.keys()]).toEqual([first?.id, second?.id]);
  expect(part).toEqual(all);
  expect([...(await reader.balancesOf(matching, call)).keys()]).toContain("c_3");
  expect(lookedUp).toEqual(["c_1", "c_2", "c_3"]);
});

describe("a file of 600 rows, of which only the last one is a card", () => {
  const own = newCall();
  const input = {
    object: "voucher",
    fields: ["code", "loyalty_balance"],
    order: "code",
    filters: {},
    campaignId: null,
    voucherId: null,
    balance: null,
  } as const satisfies ExportInput;
  const { transport } = platform;
  const clients = createClients({
    validation: transport,
    campaign: transport,
    voucher: transport,
    loyalty: transport,
  });
  const file = async (more: Partial<typeof clients> = {}) => {
    const chunks = fileContent({ ...clients, ...more }, input, own)[Symbol.asyncIterator]();
    const next = async () => Buffer.from((await chunks.next()).value ?? []).toString();
    expect(await next()).toBe("Code,Loyalty Balance\n");
    expect(await next()).toContain("A100,\n");
    return next;
  };
  const spend = (amount: bigint) => transactions.adjustBalance({ code: "Z", amount }, own);
  const reading = () =>
    asAdmin(platform.url, async (client) => {
      const { rows } = await client.query<{ name: string }>(
        `select application_name as name from pg_stat_activity
          where datname = current_database() and application_name like '%bulk' order by 1`,
      );
      return rows.map(({ name }) => name);
    });

  beforeAll(async () => {
    const discount = { type: DiscountType.PERCENT, percentOff: "5" };
    const coupon = { type: VoucherType.DISCOUNT_VOUCHER, discount };
    for (let at = 0; at < 600; at += 100) {
      const codes = Array.from({ length: 100 }, (_, n) => `A${100 + at + n}`);
      await Promise.all(codes.map((code) => vouchers.createVoucher({ code, ...coupon }, own)));
    }
    const card = { type: VoucherType.LOYALTY_CARD, loyaltyCard: { points: 100n } };
    await vouchers.createVoucher({ code: "Z", ...card }, own);
    await publications.createPublication({ customer: { sourceId: "zoe" }, voucher: "Z" }, own);
    await spend(-1n);
  });

  test("has the points of the time when the first row was read", async () => {
    const next = await file();
    await spend(-9n);
    expect(await next()).toContain("Z,99\n");
    expect(await next()).toBe("");
    await expect.poll(reading).toEqual([]);
  });

  test("fails when its snapshot is lost, and leaves no session behind", async () => {
    const next = await file();
    expect(await reading()).toContain("loyalty bulk");
    await asAdmin(platform.url, (client) =>
      client.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and application_name = 'loyalty bulk'`,
      ),
    );
    // PostgreSQL responds before the session has ended, whose snapshot can be read until then.
    await expect.poll(reading).not.toContain("loyalty bulk");
    await expect(next()).rejects.toThrow("snapshot");
    await expect.poll(reading).toEqual([]);
  });

  test("reads the names of its snapshot until it ends: loyalty would wait for a caller that does not", async () => {
    const { cards } = clients;
    let names = 0;
    const openCardSnapshot: typeof cards.openCardSnapshot = async function* open(...args) {
      for await (const name of cards.openCardSnapshot(...args)) {
        names += 1;
        yield name;
      }
    };
    const next = await file({ cards: { ...cards, openCardSnapshot } });
    await expect.poll(() => names).toBeGreaterThan(1);
    expect(await next()).toContain("Z,");
    expect(await next()).toBe("");
    expect(await reading()).toEqual([]);
  });

  test("fails when a service of an earlier release ignores the snapshot", async () => {
    const { cards } = clients;
    const getCardBalances: typeof cards.getCardBalances = ({ cards: names }, batch) =>
      cards.getCardBalances({ cards: names ?? [] }, batch);
    const next = await file({ cards: { ...cards, getCardBalances } });
    await expect(next()).rejects.toMatchObject({ key: "service_unavailable" });
  });

  test("has the points of each lookup when loyalty is of a release without snapshots", async () => {
    const { cards } = clients;
    // oxlint-disable-next-line require-yield -- as a service that does not have the RPC
    async function* openCardSnapshot(): AsyncIterable<never> {
      throw new ConnectError("OpenCardSnapshot", Code.Unimplemented);
    }
    const next = await file({ cards: { ...cards, openCardSnapshot } });
    await spend(-10n);
    expect(await next()).toContain("Z,80\n");
    expect(await next()).toBe("");
  });
});
