import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterAll, describe, expect, test } from "vitest";

import { scrip, scripOnTerminal, startInstallation } from "./installation.ts";

const installation = await startInstallation();
const folder = await mkdtemp(path.join(tmpdir(), "scrip-transfers-"));
afterAll(async () => {
  await installation[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});
const { env } = installation;

const inFolder = (name: string): string => path.join(folder, name);

async function fileOf(name: string, text: string): Promise<string> {
  await writeFile(inFolder(name), text);
  return inFolder(name);
}

describe("imports and exports", () => {
  test("imports a file with a progress bar, and exports it again", async () => {
    const codes = Array.from({ length: 300 }, (_, index) => `MOVE-${index},GIFT_VOUCHER,20.00`);
    const file = await fileOf("codes.csv", `Code,Voucher Type,Value\n${codes.join("\n")}\n`);
    const imported = await scripOnTerminal(env, "import", "vouchers", file);
    expect(imported).toMatchObject({
      exitCode: 0,
      out: "300 voucher(s) imported successfully, 0 failed.\n",
      errors: expect.stringMatching(/^async action aa_/),
    });
    expect(imported.drawn).toMatch(/aa_\w+ {2}\S+ {2}300\/300/);

    const output = inFolder("exported.csv");
    const fields = ["--fields", "code", "gift_balance", "--order", "code"];
    const filters = ["--filters", '{"code": {"conditions": {"$starts_with": ["MOVE-"]}}}'];
    const exported = await scripOnTerminal(
      env,
      "export",
      "voucher",
      "-o",
      output,
      ...fields,
      ...filters,
    );
    expect(exported).toMatchObject({ exitCode: 0, out: `wrote 300 rows to ${output}\n` });
    expect(exported.drawn).toContain("300");
    const lines = (await readFile(output, "utf8")).trimEnd().split("\n");
    expect(lines.slice(0, 2)).toEqual(["Code,Gift Balance", "MOVE-0,2000"]);
    expect(lines).toHaveLength(301);
  });

  test("names failed rows, and draws nothing without a terminal", async () => {
    const file = await fileOf("bad.csv", "source_id,birthdate\nada,1815-12-10\nbob,never\n");
    const result = await scrip(env, "import", "customers", file);
    expect(result).toMatchObject({
      exitCode: 1,
      errors: expect.stringContaining("1 item failed"),
    });
    expect(result.out).toMatch(
      /^1 customer\(s\) imported successfully, 1 failed\.\n {2}row 2: bob: /,
    );
    expect(result.errors).not.toContain("\u001B");
  });

  test("accepts kinds in the singular and the plural, and lists them", async () => {
    const file = await fileOf("ada.csv", "source_id,name\nada,Ada\n");
    expect(await scrip(env, "import", "customer", file)).toMatchObject({ exitCode: 0 });
    const output = inFolder("customers.csv");
    expect(await scrip(env, "export", "customers", "-o", output)).toMatchObject({ exitCode: 0 });
    for (const args of [
      ["import", "voucherz", file],
      ["export", "voucherz", "-o", output],
    ]) {
      expect(await scrip(env, ...args)).toMatchObject({
        exitCode: 2,
        errors: expect.stringMatching(/Allowed choices are .*voucher/),
      });
    }
  });

  test("rejects a file that cannot be read", async () => {
    expect(await scrip(env, "import", "vouchers", "/nonexistent")).toMatchObject({
      exitCode: 2,
      errors: expect.stringContaining("/nonexistent cannot be read: ENOENT"),
    });
  });

  test("generates codes with a progress bar", async () => {
    const config = `version: 1
campaigns:
  Codes: {campaign_type: DISCOUNT_COUPONS, voucher: {type: DISCOUNT_VOUCHER, discount: {type: PERCENT, percent_off: 5}}}
`;
    const { json } = await scrip(env, "--json", "projects", "list");
    await scrip(env, "config", "apply", json[0].id, await fileOf("codes.yaml", config));
    const generated = await scripOnTerminal(env, "generate", "Codes", "1500");
    expect(generated).toMatchObject({ exitCode: 0, out: "Generated 1500 vouchers.\n" });
    expect(generated.drawn).toContain("1500/1500");
    const [, id = ""] = /async action (aa_\w+)/.exec(generated.errors) ?? [];
    expect(await scrip(env, "wait", id)).toMatchObject({ out: generated.out });
    expect(await scrip(env, "generate", "Codes", "many")).toMatchObject({ exitCode: 2 });
  });
});
