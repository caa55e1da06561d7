import { expect, test } from "vitest";

import { canonicalDomain, trustedDomains } from "./origin.ts";

const trusts = (domain: string, origin: string): boolean =>
  trustedDomains([canonicalDomain(domain) ?? "refused"])(origin);

test.each([
  ["https://shop.example", "https://shop.example"],
  ["https://Shop.Example/", "https://SHOP.example"],
  ["https://shop.example:443", "https://shop.example"],
  ["http://localhost:3000", "http://localhost:3000"],
  ["shop.example", "https://shop.example"],
  ["shop.example", "http://shop.example:8080"],
  ["[::1]", "http://[::1]:8080"],
  ["*", "https://anything.example"],
])("a project that trusts %s trusts %s", (domain, origin) => {
  expect(trusts(domain, origin)).toBe(true);
});

test.each([
  ["https://shop.example", "http://shop.example"],
  ["https://shop.example", "https://shop.example:8443"],
  ["https://shop.example", "https://shop.example.evil.example"],
  ["shop.example", "https://evilshop.example"],
  ["shop.example", "https://sub.shop.example"],
  ["shop.example", "https://shop.example@evil.example"],
  ["shop.example", "shop.example"],
  ["shop.example", "null"],
  ["*", "null"],
  ["*", "shop.example"],
  ["*", "https://"],
  ["*", "https://shop.example, https://evil.example"],
])("a project that trusts %s does not trust %s", (domain, origin) => {
  expect(trusts(domain, origin)).toBe(false);
});

test.each(["", "https://", "https://shop.example/path", "a b", "user@host", "*.shop.example"])(
  "%j is not a valid trusted domain",
  (domain) => {
    expect(canonicalDomain(domain)).toBeUndefined();
  },
);
