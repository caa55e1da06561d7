import { describe, expect, test } from "vitest";

import {
  type ApiResponse,
  clientApi,
  managementApi,
  newCode,
  newProject,
  serverApi,
} from "../stack/api.ts";
import { ok } from "../stack/rule-builders.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

const ORDER = { order: { amount: 1_000 } };
const redeemablesOf = (codes: readonly string[]) => codes.map((id) => ({ object: "voucher", id }));

const sentCodes = (count: number): readonly string[] =>
  Array.from({ length: count }, () => newCode("GUESS"));

const expectThrottled = ({ status, body, headers }: ApiResponse): void => {
  expect([status, body["key"]]).toEqual([429, "too_many_requests"]);
  const seconds = Number(headers.get("retry-after"));
  expect(seconds).toBeGreaterThan(270);
  expect(seconds).toBeLessThanOrEqual(300);
};

describe.each(COMPOSITIONS)("code guessing (%s)", async (composition) => {
  const stack = await sharedStack(composition);

  test("answers 20 guesses of a client-side caller, and then rejects valid codes too", async () => {
    const server = await serverApi(stack);
    const client = await clientApi(stack, "https://shop.example");
    const code = newCode("REAL");
    await server.post("/v1/vouchers", {
      code,
      type: "DISCOUNT_VOUCHER",
      discount: { type: "AMOUNT", amount_off: 100 },
    });
    const guess = (id: string) =>
      client.post("/client/v1/validations", { redeemables: redeemablesOf([id]), ...ORDER });
    expect((await guess(code)).body["valid"]).toBe(true);
    const answers = [];
    for (const id of sentCodes(30)) answers.push((await guess(id)).status);
    expect(answers).toEqual([...Array(20).fill(200), ...Array(10).fill(429)]);
    expectThrottled(await guess(code));
    expectThrottled(await client.get(`/client/v1/validate?code=${code}&amount=1000`));
    // Neither the project's server nor endpoints without codes are affected.
    expect((await server.post(`/v1/vouchers/${code}/validate`, ORDER)).body["valid"]).toBe(true);
    expect((await client.get("/client/v1/promotions/tiers")).status).toBe(200);
  });

  test("answers 300 guesses of a server-side key, and 20 of a customer that it names", async () => {
    const server = await serverApi(stack);
    const validate = (customer: string) =>
      server.post(`/v1/vouchers/${newCode("GUESS")}/validate`, {
        ...ORDER,
        customer: { source_id: customer },
      });
    for (let sent = 0; sent < 20; sent += 1) expect((await validate("ada")).status).toBe(404);
    expectThrottled(await validate("ada"));
    expect((await validate("bob")).status).toBe(404);
    for (let sent = 21; sent < 300; sent += 31) {
      const guesses = sentCodes(31).map((code) => server.get(`/v1/vouchers/${code}`));
      for (const { status } of await Promise.all(guesses)) expect(status).toBe(404);
    }
    expectThrottled(await server.get(`/v1/vouchers/${newCode("X")}`));
    expectThrottled(await server.post(`/v1/vouchers/${newCode("X")}/redemption`, ORDER));
    expect((await server.get("/v1/vouchers")).status).toBe(200);
  });

  test("adds an entry to the audit log when a caller finds a code after ten unknown ones", async () => {
    const { api, clientSide } = await newProject(stack, { client_trusted_domains: ["*"] });
    const client = await clientSide();
    const { code } = await ok(
      api.post("/v1/vouchers", { type: "GIFT_VOUCHER", gift: { amount: 1 } }),
    );
    const validate = (id: string) =>
      client.post("/client/v1/validations", { redeemables: redeemablesOf([id]), ...ORDER });
    for (const id of sentCodes(9)) await validate(id);
    await validate(code);
    await validate(newCode("GUESS"));
    const found = await validate(code);
    await validate(code);
    const action = "codeFoundAfterMisses";
    const entries = async () =>
      (await ok(api.get(`/v1/audit-log?action=${action}`)))["data"] as readonly unknown[];
    await expect.poll(entries).toEqual([
      {
        object: "audit_entry",
        id: expect.stringMatching(/^aud_/),
        action,
        fields: [],
        actor: { type: "client", id: client.headers["x-client-application-id"] },
        request_id: found.headers.get("x-request-id"),
        created_at: expect.any(String),
      },
    ]);
  });

  test("returns the same error for a code of another project as for an unknown one", async () => {
    const management = managementApi(stack);
    const { body: project } = await management.post("/management/v1/projects", { name: "other" });
    const { app_id: appId, app_token: appToken } = project["server_side_key"];
    const other = await serverApi({ ...stack, keys: { ...stack.keys, appId, appToken } });
    const unknown = newCode("SAME");
    const foreign = newCode("SAME");
    const mine = await sharedStack(composition);
    const owner = await serverApi(mine);
    await owner.post("/v1/vouchers", { code: foreign, type: "GIFT_VOUCHER", gift: { amount: 1 } });
    for (const path of [
      "/v1/vouchers/{}",
      "/v1/vouchers/{}/validate",
      "/v1/vouchers/{}/redemption",
    ]) {
      const [one, two] = await Promise.all(
        [unknown, foreign].map(async (code) => {
          const url = path.replace("{}", code);
          const { status, text } = url.endsWith(code)
            ? await other.get(url)
            : await other.post(url, ORDER);
          return [status, text.replaceAll(code, "CODE").replace(/v-[0-9a-f]{18}/g, "ID")];
        }),
      );
      expect(one?.[0]).toBe(404);
      expect(two).toEqual(one);
    }
  });
});
