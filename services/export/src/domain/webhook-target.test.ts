import { expect, test } from "vitest";

import { headerViolation, isPublicAddress, targetViolation } from "./webhook-target.ts";

const STRICT = { allowHttp: false, allowPrivate: false };

test.each([
  ["https://shop.example/hooks", undefined],
  ["https://93.184.216.34/", undefined],
  ["http://shop.example/hooks", "must be an https URL"],
  ["ftp://shop.example/", "must be an https URL"],
  ["shop.example", "must be a URL"],
  ["https://user:secret@shop.example/", "must not contain credentials"],
  ["https://localhost/", "must not be a private address"],
  ["https://api.localhost/", "must not be a private address"],
  ["https://127.0.0.1/", "must not be a private address"],
  // The URL parser normalizes other notations of IPv4 addresses.
  ["https://0x7f000001/", "must not be a private address"],
  ["https://2130706433/", "must not be a private address"],
  ["https://[::1]/", "must not be a private address"],
  ["https://[::ffff:10.0.0.1]/", "must not be a private address"],
])("judges %s", (url, violation) => {
  expect(targetViolation(url, STRICT)).toBe(violation);
});

test("accepts http and private addresses where the installation allows them", () => {
  const lenient = { allowHttp: true, allowPrivate: true };
  expect(targetViolation("http://127.0.0.1:8080/", lenient)).toBeUndefined();
});

test.each([
  ["93.184.216.34", true],
  ["2606:2800:220:1:248:1893:25c8:1946", true],
  ["10.1.2.3", false],
  ["100.64.0.1", false],
  ["127.0.0.1", false],
  ["169.254.169.254", false],
  ["172.16.0.1", false],
  ["192.168.1.1", false],
  ["0.0.0.0", false],
  ["224.0.0.1", false],
  ["255.255.255.255", false],
  ["::1", false],
  ["::", false],
  ["fd00::1", false],
  ["fe80::1", false],
  ["::ffff:192.168.1.1", false],
  ["64:ff9b::7f00:1", false],
  ["::7f00:1", false],
  ["4000::1", false],
])("classifies %s", (address, isPublic) => {
  expect(isPublicAddress(address)).toBe(isPublic);
});

test.each([
  ["Authorization", "Bearer x", undefined],
  ["X-Shop", "toys", undefined],
  ["Host", "x", "is set by Scrip"],
  ["X-Webhook-Signature", "x", "is set by Scrip"],
  ["a b", "x", "is not a header name"],
  ["X-Shop", "a\r\nb: c", "must have a value of printable ASCII"],
])("judges the header %s: %s", (name, value, violation) => {
  expect(headerViolation(name, value, "x-webhook-signature")).toBe(violation);
});
