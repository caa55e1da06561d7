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
  ["uses the connection's address without proxies", ["203.0.113.9", "1.2.3.4", 0], "203.0.113.9"],
  ["unwraps an IPv4 address in IPv6 form", ["::ffff:203.0.113.9", undefined, 0], "203.0.113.9"],
  [
    "uses the last entry behind one proxy",
    ["10.0.0.1", "1.2.3.4, 198.51.100.7", 1],
    "198.51.100.7",
  ],
  [
    "uses the second last entry behind two proxies",
    ["10.0.0.1", "6.6.6.6, 198.51.100.7, 10.0.0.2", 2],
    "198.51.100.7",
  ],
  [
    "uses the first entry if there are fewer than proxies",
    ["10.0.0.1", "198.51.100.7", 2],
    "198.51.100.7",
  ],
  ["ignores an entry that is no address", ["10.0.0.1", "evil", 1], "10.0.0.1"],
  [
    "uses the connection's address if the proxy sends no header",
    ["10.0.0.1", undefined, 1],
    "10.0.0.1",
  ],
] as const)("%s", (_name, [remote, forwarded, proxies], address) => {
  expect(clientAddress(remote, forwarded, proxies)).toBe(address);
});

test.each([
  ["203.0.113.9", "203.0.113.9"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
  ["2001:db8::1", "2001:db8:0:0"],
  ["::1", "0:0:0:0"],
])("limits the rate of %s as %s", (address, limited) => {
  expect(limitAddress(address)).toBe(limited);
});
