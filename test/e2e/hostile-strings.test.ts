import { bindingsOf } from "@scrip/contract";
import { describe, expect, test } from "vitest";

import { publicServices } from "../../gateway/src/public-services.ts";
import { inParallel, type Json, newCode, serverApi } from "../stack/api.ts";
import { ok } from "../stack/rule-builders.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

/** What ends a literal, names a parameter, or means something to a template, a shell or a file system. */
const HOSTILE = [
  "' or '1'='1",
  "'; drop table voucher.voucher; --",
  '"; select pg_sleep(9); --',
  "\\'; delete from outbox where ''='",
  "$1",
  "$$; select 1; $$",
  "%s%n%x",
  "${7*7}{{7*7}}<%= 7*7 %>",
  "$(sleep 9)`sleep 9`",
  "../../../../etc/passwd",
  '{"$ne": null}',
  "<script>alert(1)</script>",
  "a\u2028b\u202e\ufeffc",
];

/** What paths and queries may hold besides; names of resources may not. */
const CONTROL = ["\u0001code", "a\u0007b\u007f", "\r\nX-Header: 1"];

/** Errors of PostgreSQL, and what no response names. */
const LEAKED =
  /SQLSTATE|syntax error|unterminated|does not exist"|relation "|column "|pg_catalog|node_modules|\.ts:\d/;

/** Each read, once per parameter. */
const READS = bindingsOf(publicServices)
  .filter(({ httpMethod, side }) => httpMethod === "GET" && side === "server")
  .flatMap(({ path, method }) => {
    const inPath = new Set([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
    const inQuery = method.input.fields.map(({ name }) => name).filter((name) => !inPath.has(name));
    const named = [...inQuery, "order", "filters[code][conditions][$is][0]"];
    return [...inPath, ...named].map((name) => ({ path, name: name ?? "" }));
  });

const WIDTH = 8;

describe.each(COMPOSITIONS)("hostile strings (%s)", async (composition) => {
  const stack = await sharedStack(composition);
  const api = await serverApi(stack);

  test("in paths and queries find nothing, and their errors name nothing internal", async () => {
    expect(READS.length).toBeGreaterThan(200);
    const failures: string[] = [];
    const strings = [...HOSTILE, ...CONTROL];
    await inParallel([...READS.entries()], WIDTH, async ([at, { path, name }]) => {
      const value = encodeURIComponent(strings[at % strings.length] ?? "");
      const isInPath = path.includes(`{${name}}`);
      const target = path.replaceAll(/\{(\w+)\}/g, (_, other) => (other === name ? value : "x"));
      const url = isInPath ? target : `${target}?${encodeURIComponent(name)}=${value}`;
      const { status, text } = await api.get(url);
      if (status >= 500 || LEAKED.test(text)) failures.push(`${url}: ${status} ${text}`);
    });
    expect(failures).toEqual([]);
  });

  test("that are reserved in paths or have control characters are rejected as codes", async () => {
    for (const code of [".", "..", "import", "a\nb"]) {
      const { status, body } = await api.post("/v1/vouchers", { code, gift: { amount: 1 } });
      expect([code, status, body["key"]]).toEqual([code, 400, "invalid_payload"]);
    }
  });

  test.each(CONTROL)("%j in the path of a resource is not found", async (text) => {
    for (const resource of ["vouchers", "campaigns", "customers", "products", "skus", "orders"]) {
      const { status, body } = await api.get(`/v1/${resource}/${encodeURIComponent(text)}`);
      expect([resource, status, body["key"]]).toEqual([resource, 404, "not_found"]);
    }
  });

  test("are stored and returned verbatim", async () => {
    await inParallel(HOSTILE, WIDTH, async (text) => {
      const tag = newCode("hostile");
      const named = (name: string): Json => ({
        name: `${name} ${text}`,
        metadata: { [text]: text },
      });
      const customer = await ok(
        api.post("/v1/customers", { ...named(tag), source_id: tag + text, description: text }),
      );
      expect(await ok(api.get(`/v1/customers/${customer["id"]}`))).toMatchObject({
        ...named(tag),
        source_id: tag + text,
        description: text,
      });
      const found = await ok(api.get(`/v1/customers/${encodeURIComponent(tag + text)}`));
      expect(found["id"]).toBe(customer["id"]);
      const product = await ok(
        api.post("/v1/products", { ...named(tag), source_id: `${tag}p${text}`, price: 5 }),
      );
      expect(await ok(api.get(`/v1/products/${product["id"]}`))).toMatchObject(named(tag));
      const order = await ok(
        api.post("/v1/orders", {
          source_id: `${tag}o${text}`,
          amount: 5,
          metadata: { [text]: text },
        }),
      );
      const stored = await ok(api.get(`/v1/orders/${order["id"]}`));
      expect(stored).toMatchObject({ source_id: `${tag}o${text}`, metadata: { [text]: text } });
      const discount = { type: "AMOUNT", amount_off: 100 };
      const voucher = await ok(
        api.post("/v1/vouchers", {
          type: "DISCOUNT_VOUCHER",
          discount,
          additional_info: text,
          metadata: { [text]: text },
        }),
      );
      expect(await ok(api.get(`/v1/vouchers/${voucher["code"]}`))).toMatchObject({
        additional_info: text,
        metadata: { [text]: text },
      });
    });
  });
});
