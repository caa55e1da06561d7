import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { text as readText } from "node:stream/consumers";

import { describe, expect, test } from "vitest";

import { readSettings } from "../src/settings.ts";
import { scrip } from "./installation.ts";

const MAIN = path.join(import.meta.dirname, "../src/main.ts");
const NOWHERE = { SCRIP_DATA_DIR: "/nonexistent" };

describe("the program", () => {
  test.each([
    ["an unknown command", ["frobnicate"]],
    ["an unknown option", ["token", "--frobnicate"]],
    ["a missing argument", ["projects", "show"]],
    ["a missing option", ["projects", "create"]],
    ["an update of nothing", ["projects", "update", "proj_1"]],
    ["a field without a value", ["projects", "update", "proj_1", "--set", "name"]],
  ])("returns 2 for %s", async (_name, args) => {
    const response = await scrip(NOWHERE, ...args);
    expect(response).toMatchObject({ exitCode: 2, out: "" });
    expect(response.errors).not.toBe("");
  });

  test.each([
    [["--help"], "Usage: scrip"],
    [["projects", "--help"], "list"],
    [["projects", "create", "--help"], "--timezone"],
    [["keys", "create", "--help"], "--allow-ip"],
    [["check-invariants", "--help"], "--project"],
  ])("prints help for %j", async (args, text) => {
    const response = await scrip(NOWHERE, ...args);
    expect(response).toMatchObject({ exitCode: 0, errors: "" });
    expect(response.out).toContain(text);
  });

  test.each([
    ["export", "voucher", "-o"],
    ["ledger", "export"],
    ["config", "export", "proj_1", "-o"],
  ])("rejects an output that cannot be written before it starts: %s %s", async (...args) => {
    expect(await scrip(NOWHERE, ...args, "/nonexistent/x")).toMatchObject({
      exitCode: 2,
      errors: expect.stringContaining("/nonexistent/x cannot be written: ENOENT"),
    });
    expect(await scrip(NOWHERE, ...args, tmpdir())).toMatchObject({
      exitCode: 2,
      errors: `scrip: ${tmpdir()} cannot be written: it is a directory\n`,
    });
  });

  test("names the missing variable", async () => {
    expect(await scrip(NOWHERE, "projects", "list")).toMatchObject({
      exitCode: 2,
      errors: expect.stringContaining("SCRIP_MANAGEMENT_ID is not set"),
    });
  });

  test("writes errors as JSON with --json", async () => {
    const { errors } = await scrip(NOWHERE, "projects", "list", "--json");
    expect(JSON.parse(errors)).toEqual({ error: expect.stringContaining("SCRIP_MANAGEMENT_ID") });
  });
});

test("ends quietly when the reader of its output has left", async () => {
  const command = spawn(process.execPath, [MAIN, "--help"], {
    env: { ...process.env, ...NOWHERE },
    stdio: ["ignore", "pipe", "pipe"],
  });
  command.stdout.destroy();
  const errors = await readText(command.stderr);
  expect({ exitCode: command.exitCode ?? (await once(command, "exit"))[0], errors }).toEqual({
    exitCode: 0,
    errors: "",
  });
});

test("prefers the environment to keys.env", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "scrip-cli-"));
  try {
    await writeFile(
      path.join(folder, "keys.env"),
      `export SCRIP_BASE_URL='http://localhost:1'\nSCRIP_APP_ID=app_1\nSCRIP_APP_TOKEN="a b"\n`,
    );
    const settings = await readSettings({ SCRIP_DATA_DIR: folder, SCRIP_APP_ID: "app_2" });
    expect(settings.read("SCRIP_BASE_URL")).toBe("http://localhost:1");
    expect(settings.read("SCRIP_APP_ID")).toBe("app_2");
    expect(settings.read("SCRIP_APP_TOKEN")).toBe("a b");
    expect(settings.read("SCRIP_CLIENT_TOKEN")).toBeUndefined();
  } finally {
    await rm(folder, { recursive: true });
  }
});
