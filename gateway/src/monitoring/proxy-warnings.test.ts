import { expect, test } from "vitest";

import { createProxyWarnings } from "./proxy-warnings.ts";

const from = (remoteAddress: string, headers: Record<string, string> = {}) => ({
  headers,
  socket: { remoteAddress },
});
const forwardedFor = (value: string) => ({ "x-forwarded-for": value });

function warningsOf(trustedProxies: number, requests: readonly ReturnType<typeof from>[]) {
  const messages: string[] = [];
  const check = createProxyWarnings(trustedProxies, (_, message) => messages.push(message));
  for (const request of requests) check(request);
  return messages;
}

test.each([
  ["127.0.0.1", forwardedFor("203.0.113.9")],
  ["::ffff:10.1.2.3", forwardedFor("203.0.113.9, 10.0.0.7")],
  ["fd00::7", { forwarded: "for=203.0.113.9" }],
])("a proxy at %s without SCRIP_TRUSTED_PROXIES is reported once", (peer, headers) => {
  const messages = warningsOf(0, [from(peer), from(peer, headers), from(peer, headers)]);
  expect(messages).toEqual([expect.stringContaining("SCRIP_TRUSTED_PROXIES is 0")]);
});

test("callers on the internet cannot cause the warning with forged headers", () => {
  const forged = ["203.0.113.9", "2001:db8::1", "::ffff:203.0.113.9"].map((peer) =>
    from(peer, forwardedFor("10.0.0.1")),
  );
  expect(warningsOf(0, forged)).toEqual([]);
});

test("fewer entries than trusted proxies are reported once, and enough of them are not", () => {
  const peer = "10.0.0.1";
  const few = [from(peer), from(peer, forwardedFor("203.0.113.9"))];
  const enough = [from(peer, forwardedFor("6.6.6.6, 203.0.113.9, 10.0.0.2"))];
  expect(warningsOf(2, [...enough, ...few])).toEqual([
    expect.stringContaining("fewer entries than SCRIP_TRUSTED_PROXIES"),
  ]);
  expect(warningsOf(2, enough)).toEqual([]);
});
