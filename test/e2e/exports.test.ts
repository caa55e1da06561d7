import { describe, expect, test } from "vitest";

import { newCode, serverApi } from "../stack/api.ts";
import { ok } from "../stack/rule-builders.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

describe.each(COMPOSITIONS)("exports (%s)", async (composition) => {
  const stack = await sharedStack(composition);
  const api = await serverApi(stack);

  test("a file is downloaded by its link alone, in whole or in parts", async () => {
    const code = newCode("exported");
    await ok(api.post("/v1/vouchers", { code, type: "GIFT_VOUCHER", gift: { amount: 150 } }));
    const { id } = await ok(
      api.post("/v1/exports", {
        exported_object: "voucher",
        parameters: { fields: ["code", "value"], filters: { code: { conditions: { $is: code } } } },
      }),
    );
    await expect.poll(async () => (await ok(api.get(`/v1/exports/${id}`)))["status"]).toBe("DONE");
    const { result } = await ok(api.get(`/v1/exports/${id}`));
    const { pathname, search } = new URL(result.url, stack.url);
    const fetchPart = async (headers: Record<string, string> = {}, query = search) => {
      const response = await fetch(`${stack.url}${pathname}${query}`, { headers });
      return { response, text: await response.text() };
    };
    const whole = `Code,Value\n${code},1.50\n`;
    const { response, text } = await fetchPart();
    expect([response.status, text]).toEqual([200, whole]);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": `attachment; filename="${id}.csv"`,
      "content-length": String(whole.length),
      "accept-ranges": "bytes",
      "cache-control": "no-store",
    });
    const part = await fetchPart({ range: "bytes=5-9" });
    expect([part.response.status, part.text]).toEqual([206, "Value"]);
    expect(part.response.headers.get("content-range")).toBe(`bytes 5-9/${whole.length}`);
    const behind = await fetchPart({ range: "bytes=9999-" });
    expect([behind.response.status, behind.text]).toEqual([416, ""]);
    expect(behind.response.headers.get("content-range")).toBe(`bytes */${whole.length}`);

    const wrong = await fetchPart({}, "?token=wrong");
    expect([wrong.response.status, JSON.parse(wrong.text).key]).toEqual([401, "unauthorized"]);
    expect((await api.delete(`/v1/exports/${id}`)).status).toBe(204);
    const gone = await fetchPart();
    expect([gone.response.status, JSON.parse(gone.text).key]).toEqual([404, "not_found"]);
  });
});
