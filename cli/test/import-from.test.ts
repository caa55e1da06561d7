import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { COMPILE_CACHE } from "@scrip/testing/compile-cache";
import { afterAll, describe, expect, test } from "vitest";

import { openApi } from "../src/api.ts";
import { type Environment, readSettings } from "../src/settings.ts";
import { scrip, startInstallation } from "./installation.ts";
import { startProxy } from "./proxy.ts";

const installation = await startInstallation();
const folder = await mkdtemp(path.join(tmpdir(), "scrip-moves-"));
afterAll(async () => {
  await installation[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});
const { env } = installation;

const MAIN = path.join(import.meta.dirname, "../src/main.ts");

/** Campaigns of the example in docs/moving.md. */
const CAMPAIGNS = `version: 1
campaigns:
  Spring: {campaign_type: DISCOUNT_COUPONS, voucher: {type: DISCOUNT_VOUCHER, discount: {type: PERCENT, percent_off: 20}, redemption: {quantity: 1}}}
  Gifts: {campaign_type: GIFT_VOUCHERS, voucher: {type: GIFT_VOUCHER, gift: {amount: 5000}}}
  Club: {campaign_type: LOYALTY_PROGRAM, voucher: {type: LOYALTY_CARD, loyalty_card: {points: 0}}}
`;

/** A project with the campaigns of the example. */
async function createProject(): Promise<Environment> {
  const { json } = await scrip(env, "--json", "projects", "create", "--name", "Moved");
  const { app_id: id, app_token: token } = json.server_side_key;
  const own = { ...env, SCRIP_APP_ID: id, SCRIP_APP_TOKEN: token };
  const file = await fileOf("campaigns.yaml", CAMPAIGNS);
  expect(await scrip(own, "config", "apply", json.id, file)).toMatchObject({ exitCode: 0 });
  return own;
}

const inFolder = (name: string): string => path.join(folder, name);

async function fileOf(name: string, text: string): Promise<string> {
  await writeFile(inFolder(name), text);
  return inFolder(name);
}

describe("import-from", () => {
  const page = readFile(path.join(import.meta.dirname, "../../docs/moving.md"), "utf8");

  /** Files of the page by name. */
  async function filesOfPage(): Promise<readonly string[]> {
    const files = (await page).matchAll(/`([\w-]+\.csv)`:\n\n```csv\n([^]*?)```/g);
    return Promise.all([...files].map(([, name = "", text = ""]) => fileOf(name, text)));
  }

  const withFolder = (args: string): readonly string[] =>
    args.split(" ").map((arg) => (arg.endsWith(".csv") ? inFolder(arg) : arg));

  const move = (project: Environment, ...args: readonly string[]) =>
    scrip(project, "import-from", "voucherify", ...args);

  test("does what its documentation shows, and nothing when it is repeated", async () => {
    const project = await createProject();
    await filesOfPage();
    const steps = [...(await page).matchAll(/```sh\nnpx scrip (.*)\n```\n\n```text\n([^]*?)```/g)];
    expect(steps).toHaveLength(2);
    for (const [, args = "", output] of steps) {
      expect(await scrip(project, ...withFolder(args))).toMatchObject({ exitCode: 0, out: output });
    }
    const again = await move(
      project,
      ...withFolder(
        "--customers customers.csv --vouchers vouchers.csv --points-expirations points.csv --apply",
      ),
    );
    expect(again).toMatchObject({ exitCode: 0, out: steps[1]?.[2] });
    const api = await openApi(await readSettings(project));
    const { id: club } = await api.call("GET", "/v1/campaigns/Club");
    const buckets = await api.call(
      "GET",
      `/v1/loyalties/${String(club)}/members/CARD-1/points-expiration`,
    );
    expect(buckets).toMatchObject({
      data: [
        { expires_at: "2099-06-30", bucket: { total_points: 100 } },
        { expires_at: "2099-12-31", bucket: { total_points: 50 } },
        { bucket: { total_points: 500 } },
      ],
    });

    const customer = inFolder("customer.csv");
    await scrip(
      project,
      "export",
      "customer",
      "-o",
      customer,
      "--fields",
      "source_id",
      "metadata",
      "loyalty_points",
      "--order",
      "source_id",
    );
    expect(await readFile(customer, "utf8")).toBe(
      'Source ID,Metadata,Loyalty Points\nada,"{""vip"":true}",650\ncust_2,{},0\n',
    );
    const ten = inFolder("ten.csv");
    await scrip(
      project,
      "export",
      "voucher",
      "-o",
      ten,
      "--fields",
      "value",
      "redemption_quantity",
      "redemption_count",
      "--filters",
      '{"code": {"conditions": {"$is": ["TEN-OFF"]}}}',
    );
    expect(await readFile(ten, "utf8")).toBe(
      "Value,Redemption Quantity,Redemption Count\n10.00,5,2\n",
    );
  });

  test("completes an import whose process was killed after any of its writes, of codes with any characters and length", async () => {
    const project = await createProject();
    const customers = await fileOf("killed-customers.csv", "Source ID,Name\nada,Ada\nbob,Bob\n");
    const vouchers = await fileOf(
      "killed-vouchers.csv",
      [
        "Code,Voucher Type,Campaign,Loyalty Balance,Customer Source ID,ID",
        "ŻÓŁW 1,LOYALTY_CARD,Club,650,ada,v_1",
        `${"L".repeat(255)},LOYALTY_CARD,Club,30,bob,v_2`,
      ].join("\n"),
    );
    const lots = await fileOf(
      "killed-points.csv",
      [
        "voucher_id,status,expires_at,points",
        "v_1,ACTIVE,2099-01-31,100",
        "v_1,ACTIVE,2099-02-28,200",
        "v_2,ACTIVE,2099-01-31,30",
      ].join("\n"),
    );
    const files = ["--customers", customers, "--vouchers", vouchers, "--points-expirations", lots];
    const args = [...files, "--apply"];
    await using proxy = await startProxy(installation.url, (url) => url !== "/v1/exports");
    const through = { ...project, SCRIP_BASE_URL: proxy.url };
    let kills = 0;
    const runOnce = async (): Promise<number | null> => {
      const child = spawn(process.execPath, [MAIN, "import-from", "voucherify", ...args], {
        env: {
          ...process.env,
          NODE_COMPILE_CACHE: COMPILE_CACHE,
          ...through,
        },
        stdio: "ignore",
      });
      proxy.loseResponse(1, () => {
        kills += 1;
        child.kill("SIGKILL");
      });
      const [code] = await once(child, "exit");
      return code as number | null;
    };
    let code = await runOnce();
    while (code === null) code = await runOnce();
    expect(code).toBe(0);
    // Customers, cards, publications and points; the last two are each sent together.
    expect(kills).toBeGreaterThanOrEqual(4);
    expect(await move(project, ...args)).toMatchObject({
      exitCode: 0,
      out: expect.stringMatching(
        /loyalty cards +2 +2 +0\n[^]*points +680 +680 +0\npoints that expire +330 +330 +0\n/,
      ),
    });
  });

  test("adds points once when a killed run still repeats a rejected request", async () => {
    const project = await createProject();
    const cards = await fileOf(
      "rejected-cards.csv",
      "Code,Campaign,Loyalty Balance,Customer Source ID,ID\nR-1,Club,100,ada,v_1\n",
    );
    const lots = await fileOf(
      "rejected-lots.csv",
      "Voucher ID,Expires At,Points\nv_1,2099-01-31,100\n",
    );
    const api = await openApi(await readSettings(project));
    const add = (key: string) =>
      api.post(
        "/v1/loyalties/members/R-1/balance",
        {
          points: 100,
          expiration_type: "CUSTOM_DATE",
          expiration_date: "2099-01-31",
          reason: "Moved",
        },
        key,
      );
    // The card does not exist yet.
    await expect(add("import-from R-1 2099-01-31")).rejects.toMatchObject({ status: 404 });
    await using proxy = await startProxy(installation.url, (url) => url.endsWith("/balance"));
    const through = { ...project, SCRIP_BASE_URL: proxy.url };
    const late = Promise.withResolvers<unknown>();
    // After the comparison of the second run, a request of the first one takes effect.
    proxy.loseResponse(1, () => late.resolve(add("import-from R-1 2099-01-31 2")));
    const args = ["--loyalty-cards", cards, "--points-expirations", lots, "--apply"];
    const moved = await move(through, ...args);
    await late.promise;
    expect(moved).toMatchObject({
      exitCode: 0,
      out: expect.stringMatching(/points +100 +100 +0\npoints that expire +100 +100 +0\n/),
    });
  });

  test("lists problems and changes nothing, and differences that an import does not change", async () => {
    const project = await createProject();
    const vouchers = await fileOf(
      "problems.csv",
      [
        "Code,Voucher Type,Campaign,Gift Balance,Loyalty Balance,Expiration Date,Discount Type,Metadata",
        "G-1,GIFT_VOUCHER,Gifts,100,,,,",
        "G-1,GIFT_VOUCHER,Gifts,100,,,,",
        "G-2,GIFT_VOUCHER,Gifts,much,,,,",
        "G-3,GIFT_VOUCHER,Club,100,,,,",
        "L-1,LOYALTY_CARD,,,5,,,",
        "D-1,DISCOUNT_VOUCHER,,,,,UNIT,",
        "D-2,DISCOUNT_VOUCHER,None,,,,,",
        "D-3,VOUCHER,Spring,,,,,",
        ",DISCOUNT_VOUCHER,Spring,,,,,",
        'D-4,DISCOUNT_VOUCHER,Spring,,,2099-02-30,,"{""size"": 4}"',
        'D-5,DISCOUNT_VOUCHER,Spring,,,,,"{""size"": 4}"',
      ].join("\n"),
    );
    const rejected = await move(project, "--vouchers", vouchers, "--apply");
    expect(rejected).toMatchObject({ exitCode: 1, errors: "scrip: 9 problems\n" });
    for (const text of [
      "row 3: gift_balance must be an amount",
      "row 5: a loyalty card needs a campaign",
      'row 6: Discount Type "UNIT"',
      'row 8: Voucher Type "VOUCHER" is unknown',
      "row 9: Code is empty",
      "row 10: expiration_date must be a date",
      "voucher G-1 is listed more than once",
      'campaign "Club" has no vouchers of type GIFT_VOUCHER',
      'campaign "None" does not exist',
      "becomes text, because no schema defines it: size",
      "Nothing was changed: mend the problems",
    ]) {
      expect(rejected.out).toContain(text);
    }
    const cards = await fileOf(
      "cards.csv",
      [
        "Code,Campaign,Loyalty Balance,Customer Source ID,ID",
        "E-1,Club,5,ada,v_1",
        "E-2,Club,5,,v_2",
      ].join("\n"),
    );
    const lots = await fileOf(
      "lots.csv",
      [
        "Voucher ID,Expires At,Points",
        "v_1,2099-01-31,6",
        "v_2,2099-01-31,1",
        "v_3,2099-01-31,1",
        "v_4,someday,1",
        ",2099-01-31,1",
      ].join("\n"),
    );
    const undated = await move(project, "--loyalty-cards", cards, "--points-expirations", lots);
    expect(undated).toMatchObject({ exitCode: 1, errors: "scrip: 5 problems\n" });
    for (const text of [
      "voucher E-1: more points expire than the card has",
      "voucher E-2: points of a card without a holder cannot expire",
      "points of voucher v_3: no file has this ID",
      "row 4: expires_at must be a date",
      "row 5: Voucher ID is empty",
    ]) {
      expect(undated.out).toContain(text);
    }

    const good = await fileOf(
      "good.csv",
      "Code,Voucher Type,Campaign,Gift Balance\nG-9,Gift Voucher,,100\n",
    );
    expect(await move(project, "--vouchers", good, "--campaign", "Gifts", "--apply")).toMatchObject(
      {
        exitCode: 0,
        out: expect.stringMatching(/gift vouchers +1 +1 +0/),
      },
    );
    const later = await fileOf(
      "later.csv",
      "Code,Voucher Type,Campaign,Gift Balance\nG-9,Gift Voucher,Gifts,70\n",
    );
    expect(await move(project, "--vouchers", later, "--apply")).toMatchObject({
      exitCode: 1,
      out: expect.stringContaining("voucher G-9: balance 70 in the file, 100 in Scrip"),
    });
  });

  test("lists vouchers whose campaign has another discount or redemption limit", async () => {
    const project = await createProject();
    const vouchers = await fileOf(
      "other-campaign.csv",
      [
        "Code,Voucher Type,Value,Discount Type,Campaign,Redemption Limit",
        "S-1,DISCOUNT_VOUCHER,20.0,PERCENT,Spring,1",
        "S-2,DISCOUNT_VOUCHER,5.00,AMOUNT,Spring,3",
        "S-3,DISCOUNT_VOUCHER,500,AMOUNT,,3",
      ].join("\n"),
    );
    expect(await move(project, "--vouchers", vouchers, "--apply")).toMatchObject({
      exitCode: 1,
      out: expect.stringContaining(
        "Different: 1\n  voucher S-2: redemption_limit 3 in the file, 1 in Scrip; discount AMOUNT 5.00 in the file, PERCENT 20 in Scrip\n",
      ),
    });
  });

  test("publishes a voucher once when the response is lost", async () => {
    const project = await createProject();
    const vouchers = await fileOf(
      "lost-publication.csv",
      "Code,Voucher Type,Campaign,Gift Balance,Customer Source ID\nP-1,GIFT_VOUCHER,Gifts,100,ada\n",
    );
    await using proxy = await startProxy(installation.url, (url) => url === "/v1/publications");
    proxy.loseResponse(1);
    const through = { ...project, SCRIP_BASE_URL: proxy.url };
    expect(await move(through, "--vouchers", vouchers, "--apply")).toMatchObject({
      exitCode: 0,
      out: expect.stringMatching(/vouchers with a holder +1 +1 +0/),
    });
  });

  test("imports the other rows when a campaign does not exist", async () => {
    const project = await createProject();
    const vouchers = await fileOf(
      "unknown-campaign.csv",
      [
        "Code,Voucher Type,Campaign,Gift Balance,Customer Source ID",
        "N-1,GIFT_VOUCHER,None,100,ada",
        "G-1,GIFT_VOUCHER,Gifts,100,ada",
      ].join("\n"),
    );
    expect(await move(project, "--vouchers", vouchers, "--apply", "--skip-invalid")).toMatchObject({
      exitCode: 1,
      out: expect.stringMatching(
        /gift vouchers +2 +1 +1[^]*voucher N-1\n\nProblems: 1\n  campaign "None" does not exist\n\nImported/,
      ),
    });
  });

  test.each([
    ["--customers", "Name\nAda\nBob\n", "Source ID"],
    ["--vouchers", "Kind,Voucher Type\nA,COUPON\nB,COUPON\n", "Code"],
    ["--vouchers", "Code,Kind\nA,COUPON\nB,COUPON\n", "Voucher Type"],
    ["--loyalty-cards", "Card\nA\nB\n", "Code"],
  ])("reports a missing column of %s once", async (option, text, column) => {
    const file = await fileOf("missing-column.csv", text);
    const result = await move(env, option, file, "--apply");
    expect(result).toMatchObject({ exitCode: 1, errors: "scrip: 1 problem\n" });
    expect(result.out).toContain(`Problems: 1\n  ${file}: column ${column} is missing\n`);
  });

  test("rejects a folder in place of a file", async () => {
    expect(await move(env, "--customers", folder)).toMatchObject({
      exitCode: 2,
      errors: expect.stringContaining(`${folder} cannot be read: EISDIR`),
    });
  });

  test("does not add dates to points that were moved without them", async () => {
    const project = await createProject();
    const cards = await fileOf(
      "undated.csv",
      "Code,Campaign,Loyalty Balance,Customer Source ID,ID\nU-1,Club,50,ada,v_1\n",
    );
    const lots = await fileOf(
      "dated.csv",
      "Voucher ID,Expires At,Points\nv_1,2099-01-31,20\nv_1,2099-02-28,5\n",
    );
    const plain = await move(project, "--loyalty-cards", cards, "--apply");
    expect(plain).toMatchObject({ exitCode: 0, out: expect.not.stringContaining("expire") });
    const dated = ["--loyalty-cards", cards, "--points-expirations", lots, "--apply"];
    expect(await move(project, ...dated)).toMatchObject({
      exitCode: 1,
      out: expect.stringContaining(
        "voucher U-1: expirations 2099-01-31 20, 2099-02-28 5 in the file, nothing in Scrip",
      ),
    });
  });
});
