import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

import { expect, onTestFinished, test } from "vitest";

import { newCode, newProject } from "../stack/api.ts";
import { ROOT } from "../stack/process.ts";
import { sharedStack } from "../stack/stack.ts";

const run = promisify(execFile);

test("the client in services/README.md reads a voucher, and the key of an error", async () => {
  const stack = await sharedStack("standalone");
  const { id: project, api } = await newProject(stack);
  const code = newCode("README");
  const discount = { type: "PERCENT", percent_off: 10 };
  await api.post("/v1/vouchers", { code, type: "DISCOUNT_VOUCHER", discount });
  const folder = await mkdtemp(path.join(tmpdir(), "scrip-example-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const secrets = path.join(folder, "secrets.json");
  await writeFile(secrets, JSON.stringify({ serviceKeys: stack.serviceKeys }));
  const readme = await readFile(path.join(ROOT, "services/README.md"), "utf8");
  const [, example = ""] = /```js\n([\s\S]*?)\n```/.exec(readme) ?? [];

  const outputOf = async (voucher: string): Promise<string> => {
    const script = example
      .replace(".scrip/secrets.json", secrets)
      .replace("localhost:9090", new URL(stack.grpc["voucher"] ?? "").host)
      .replace("WELCOME-10", voucher)
      .replace('"proto", "node_modules', '"../proto", "../node_modules');
    const options = { cwd: path.join(ROOT, "test"), timeout: 30_000 };
    const args = ["--input-type=module", "--eval", script, "client.mjs", project];
    return (await run(process.execPath, args, options)).stdout.trim();
  };

  expect(await outputOf(code)).toContain("percent_off: '10'");
  expect(await outputOf("UNKNOWN")).toBe("not_found");
});
