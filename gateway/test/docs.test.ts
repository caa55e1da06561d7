import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterAll, describe, expect, test } from "vitest";

import { createDocsSite } from "../src/docs/site.ts";
import { openApiOf } from "../src/openapi/index.ts";
import { send } from "./builders.ts";
import { startTestGateway } from "./deps.ts";
import { stubAllServices } from "./service-stubs.ts";

const gateway = await startTestGateway({ implementations: stubAllServices() });
afterAll(() => gateway[Symbol.asyncDispose]());

const get = (target: string, headers: Record<string, string> = {}) =>
  send(gateway.url + target, "GET", { headers });

const linksOf = (html: string): readonly string[] => [
  ...new Set([...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, url]) => url ?? "")),
];

describe("GET /docs", () => {
  test("opens with the guide to the first redemption", async () => {
    const page = await get("/docs");
    expect(page.status).toBe(200);
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(page.text).toContain("<h1>The first redemption</h1>");
    for (const link of ["/docs/errors", "/docs/api", "/docs/stacking"]) {
      expect(linksOf(page.text)).toContain(link);
    }
    expect((await get("/docs/")).text).toBe(page.text);
  });

  test("serves every page, asset and anchor that its pages link to", async () => {
    const links = new Set<string>(["/docs", "/docs/api"]);
    for (const link of links) {
      const [target = "", anchor] = link.split("#");
      const { status, text, headers } = await get(target);
      expect([link, status]).toEqual([link, 200]);
      const isPage = headers.get("content-type")?.startsWith("text/html") === true;
      if (anchor !== undefined)
        expect([link, text.includes(`id="${anchor}"`)]).toEqual([link, true]);
      if (!isPage || target === "/docs/api") continue;
      for (const next of linksOf(text)) {
        if (next.startsWith("/")) links.add(next);
        else if (next.startsWith("#")) links.add(target + next);
      }
    }
    expect(links.size).toBeGreaterThan(100);
  });

  test.each(["/docs", "/docs/errors", "/docs/api"])(
    "%s loads nothing from elsewhere",
    async (at) => {
      const { text, headers } = await get(at);
      const policy = headers.get("content-security-policy") ?? "";
      expect(policy).toMatch(/^default-src 'none'; script-src 'self';/);
      expect(policy).not.toMatch(/https?:|\*/);
      expect(headers.get("referrer-policy")).toBe("no-referrer");
      expect(text).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
      expect(text).not.toMatch(/<script>|<style>| style=| on\w+="/);
    },
  );

  test("is revalidated by its ETag and compressed where the client accepts it", async () => {
    for (const target of ["/docs", "/docs/assets/docs.css", "/docs/search.json"]) {
      const first = await get(target);
      const etag = first.headers.get("etag") ?? "";
      expect(etag).toMatch(/^"[\w-]{22}"$/);
      expect(first.headers.get("cache-control")).toMatch(/^public, (no-cache|max-age=3600)$/);
      expect(first.headers.get("content-encoding")).toBe("gzip");
      const again = await get(target, { "if-none-match": etag });
      expect([again.status, again.text]).toEqual([304, ""]);
      const plain = await get(target, { "accept-encoding": "identity" });
      expect(plain.headers.get("content-encoding")).toBeNull();
      expect(plain.text).toBe(first.text);
    }
  });

  test("finds sections of pages and operations of the API", async () => {
    const { json } = await get("/docs/search.json");
    const urls = json.map(({ url }: { readonly url: string }) => url);
    expect(urls).toContain("/docs/errors#quantity_exceeded");
    expect(urls).toContain("/docs/api#tag/validation/validate");
    expect(new Set(urls).size).toBe(urls.length);
  });

  test.each([
    "/docs/no-such-page",
    "/docs/README",
    "/docs/assets/site.ts",
    "/docs/../package.json",
  ])("responds to %s with the Error object", async (target) => {
    expect(await get(target)).toMatchObject({ status: 404, json: { key: "not_found" } });
  });
});

test("a gateway without the docs folder does not start, and explains what to do", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "scrip-docs-"));
  const openApi = openApiOf([], { version: "1" });
  expect(() => createDocsSite({ openApi, folder })).toThrow(
    `the documentation is missing: ${folder} has no README.md. Copy the folder docs/`,
  );
  await rm(folder, { recursive: true });
});
