import { expect, test } from "vitest";

import { addressFilter, clientAddress, limitAddress, parseRange } from "./ip-addresses.ts";

test.each([
  ["10.0.0.1", { address: "10.0.0.1", prefix: 32, family: "ipv4" }],
  [" 10.0.0.0/8 ", { address: "10.0.0.0", prefix: 8, family: "ipv4" }],
  ["2001:db8::/32", { address: "2001:db8::", prefix: 32, family: "ipv6" }],
  ["::1", { address: "::1", prefix: 128, family: "ipv6" }],
])("parses %s", (text, range) => {
  expect(parseRange(text)).toEqual(range);
});

test.each([
  "",
  "host",
  "10.0.0.0/33",
  "::/129",
  "10.0.0.0/",
  "10.0.0.0/8/8",
  "10.0.0.0/-1",
  "10.0.0",
])("rejects %j", (text) => {
  expect(parseRange(text)).toBeUndefined();
});

test("allows the configured ranges only, or all addresses without ranges", () => {
  const filter = addressFilter(["10.0.0.0/8", "2001:db8::/32"]);
  expect(
    ["10.1.2.3", "2001:db8::5", "11.0.0.1", "2001:db9::1", ""].map((each) => filter?.(each)),
  ).toEqual([true, true, false, false, false]);
  expect(addressFilter([])).toBeUndefined();
});

test.each([
  ["without proxies it is the connection's", ["203.0.113.9", "1.2.3.4", 0], "203.0.113.9"],
  ["IPv4 in IPv6 form is plain", ["::ffff:203.0.113.9", undefined, 0], "203.0.113.9"],
  ["one proxy appends it", ["10.0.0.1", "1.2.3.4, 198.51.100.7", 1], "198.51.100.7"],
  ["two proxies tell it", ["10.0.0.1", "6.6.6.6, 198.51.100.7, 10.0.0.2", 2], "198.51.100.7"],
  ["too few entries: the first", ["10.0.0.1", "198.51.100.7", 2], "198.51.100.7"],
  ["nonsense is not believed", ["10.0.0.1", "evil", 1], "10.0.0.1"],
  ["a proxy that says nothing", ["10.0.0.1", undefined, 1], "10.0.0.1"],
] as const)("determines the client address: %s", (_name, [remote, forwarded, proxies], address) => {
  expect(clientAddress(remote, forwarded, proxies)).toBe(address);
});

test.each([
  ["203.0.113.9", "203.0.113.9"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
  ["2001:db8::1", "2001:db8:0:0"],
  ["::1", "0:0:0:0"],
])("counts %s as %s", (address, limited) => {
  expect(limitAddress(address)).toBe(limited);
});
