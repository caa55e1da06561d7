import type { lookup as resolve } from "node:dns";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";

import { expect, test } from "vitest";

import { createWebhookSender, publicLookup } from "../src/webhooks/send-request.ts";

const STRICT = { allowHttp: true, allowPrivate: false, timeoutMs: 300 };

/** Resolves each name to these addresses, one after another. */
function lookupOf(...addresses: readonly string[]): typeof resolve {
  let calls = 0;
  const lookup = (_: string, __: object, done: (error: null, all: object[]) => void): void => {
    const address = addresses[Math.min(calls, addresses.length - 1)];
    calls += 1;
    done(null, [{ address, family: 4 }]);
  };
  return lookup as unknown as typeof resolve;
}

async function startServer(listener: RequestListener) {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    port,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

test("rejects private addresses at the connection, also when a name resolves to them later", async () => {
  let requests = 0;
  await using server = await startServer((_, response) => {
    requests += 1;
    response.end();
  });
  const rebinding = lookupOf("198.51.100.1", "127.0.0.1");
  await using sender = createWebhookSender({ ...STRICT, lookup: rebinding });
  const request = { url: `http://shop.example:${server.port}/`, headers: {}, body: "{}" };
  // TEST-NET-2 is reserved, so even the first address is rejected.
  expect(await sender.send(request)).toMatchObject({ error: "the host has a private address" });
  expect(await sender.send(request)).toMatchObject({ error: "the host has a private address" });
  for (const host of ["127.0.0.1", "localhost", "[::1]", "0x7f.1"]) {
    const url = `http://${host}:${server.port}/`;
    expect(await sender.send({ ...request, url })).toMatchObject({
      responseStatus: null,
      error: "target_url must not be a private address",
    });
  }
  expect(requests).toBe(0);
});

test("checks each lookup of a name: a public address now does not permit a private one later", async () => {
  const lookup = publicLookup(lookupOf("93.184.215.14", "10.0.0.1", "93.184.215.14"));
  const resolved = (): Promise<unknown> =>
    new Promise((done) => {
      lookup("shop.example", {}, (error, address) => done(error?.message ?? address));
    });
  expect([await resolved(), await resolved(), await resolved()]).toEqual([
    "93.184.215.14",
    "the host has a private address",
    "93.184.215.14",
  ]);
});

test("ends a request after its time limit, and does not read long responses", async () => {
  await using silent = await startServer(() => {});
  await using endless = await startServer((_, response) => {
    const write = (): boolean => response.write("x".repeat(65_536));
    response.on("drain", write).on("error", () => {});
    write();
  });
  await using sender = createWebhookSender({ ...STRICT, allowPrivate: true });
  const to = (port: number) => ({ url: `http://127.0.0.1:${port}/`, headers: {}, body: "{}" });
  expect(await sender.send(to(silent.port))).toMatchObject({
    responseStatus: null,
    error: "timeout",
  });
  expect(await sender.send(to(endless.port))).toMatchObject({ responseStatus: 200, error: null });
});
