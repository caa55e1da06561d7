import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { createClient } from "@connectrpc/connect";
import {
  createServiceTransport,
  createTokenSource,
  generateServiceKey,
  type ServiceKeys,
} from "@scrip/rpc";
import { expect, test } from "vitest";

import { VoucherService } from "../../proto/gen/scrip/voucher/v1/vouchers_pb.ts";
import { newCode, serverApi } from "../stack/api.ts";
import { outputOf } from "../stack/compositions.ts";
import { ok } from "../stack/rule-builders.ts";
import { startStack } from "../stack/stack.ts";

const CLIENTS = 4;
/** Processes read their keys every few seconds: requests more often than this prove nothing more. */
const PAUSE_MS = 20;

// The procedure of docs/authentication.md#rotating-the-keys, under load.
test("the keys of services rotate without a failed request, and the old key is worthless afterwards", async () => {
  await using parts = new AsyncDisposableStack();
  const folder = await mkdtemp(path.join(tmpdir(), "scrip-rotation-"));
  parts.defer(() => rm(folder, { recursive: true, force: true }));
  const files = { signing: path.join(folder, "key.json"), trusted: path.join(folder, "jwks.json") };
  const write = async (file: string, content: object): Promise<void> => {
    await writeFile(`${file}.new`, JSON.stringify(content));
    await rename(`${file}.new`, file);
  };
  const [old, next] = [await generateServiceKey(), await generateServiceKey()];
  await write(files.signing, old.signing);
  await write(files.trusted, old.trusted);
  const stack = parts.use(
    await startStack("distributed", {
      SCRIP_SERVICE_KEY: "",
      SCRIP_SERVICE_JWKS: "",
      SCRIP_SERVICE_KEY_FILE: files.signing,
      SCRIP_SERVICE_JWKS_FILE: files.trusted,
    }),
  );
  const api = await serverApi(stack);
  const code = newCode("ROTATE");
  await ok(api.post("/v1/vouchers", { code, type: "GIFT_VOUCHER", gift: { amount: 10_000_000 } }));

  const traffic = { running: true, redeemed: 0, failed: [] as string[] };
  const client = async (): Promise<void> => {
    while (traffic.running) {
      const { status, text } = await api
        .post(`/v1/vouchers/${code}/redemption`, { gift: { credits: 1 }, order: { amount: 1 } })
        .catch((error: unknown) => ({ status: 0, text: String(error) }));
      if (status === 200) traffic.redeemed += 1;
      else traffic.failed.push(`${status} ${text}`);
      await sleep(PAUSE_MS);
    }
  };
  const clients = Array.from({ length: CLIENTS }, client);
  /** Waits until every process uses the keys, and redemptions have succeeded with them. */
  const inUse = async (signing: ServiceKeys, trusted: readonly ServiceKeys[]): Promise<void> => {
    const ids = trusted.flatMap(({ trusted: { keys } }) => keys.map(({ kid }) => kid));
    const fields = `"signing":"${signing.signing.kid}","trusted":${JSON.stringify(ids)}`;
    await expect.poll(() => outputOf(stack).split(fields).length - 1).toBe(stack.pids().length);
    const before = traffic.redeemed;
    await expect.poll(() => traffic.redeemed).toBeGreaterThan(before + 2 * CLIENTS);
  };
  const oldToken = await createTokenSource(old, {
    name: "gateway",
    internal: true,
    scopes: [],
    projects: ["*"],
  })("voucher");
  const vouchers = createClient(
    VoucherService,
    createServiceTransport({
      baseUrl: stack.grpc["voucher"] ?? "",
      audience: "voucher",
      token: async () => oldToken,
    }),
  );
  const keyOfOldToken = (): Promise<string> =>
    vouchers
      .getVoucher({ code: "NONE" }, { headers: { "x-scrip-project": "proj_0123456789abcdef01" } })
      .then(() => "", String);

  await write(files.trusted, { keys: [...old.trusted.keys, ...next.trusted.keys] });
  await inUse(old, [old, next]);
  await write(files.signing, next.signing);
  await inUse(next, [old, next]);
  expect(await keyOfOldToken()).toContain("not_found");
  await write(files.trusted, next.trusted);
  await inUse(next, [next]);
  expect(await keyOfOldToken()).toContain("unauthenticated");

  traffic.running = false;
  await Promise.all(clients);
  expect(traffic.failed).toEqual([]);
  const voucher = await ok(api.get(`/v1/vouchers/${code}`));
  expect(voucher["gift"].balance).toBe(10_000_000 - traffic.redeemed);
});
