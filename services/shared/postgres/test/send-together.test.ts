import { once } from "node:events";
import { type AddressInfo, createConnection, createServer } from "node:net";
import path from "node:path";

import { emptyDatabase } from "@scrip/testing";
import { expect, test } from "vitest";

import { createDatabase, migrate } from "../src/index.ts";

const SERVICE = { schema: "till", role: "scrip_till" };

/** A proxy that records what clients send in one piece. */
async function recordingProxy(url: string) {
  const target = new URL(url);
  const sent: string[] = [];
  const proxy = createServer((socket) => {
    const upstream = createConnection(Number(target.port), target.hostname);
    socket.on("data", (chunk) => sent.push(chunk.toString("latin1")));
    socket.pipe(upstream).pipe(socket);
    socket.on("close", () => upstream.destroy());
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const { port } = proxy.address() as AddressInfo;
  return {
    sent,
    url: Object.assign(new URL(url), { hostname: "127.0.0.1", port: String(port) }).href,
    [Symbol.asyncDispose]: async () => {
      proxy.close();
      await once(proxy, "close");
    },
  };
}

test("a transaction begins in one piece with its settings and first statements", async () => {
  await using server = await emptyDatabase();
  await migrate({
    url: server.url,
    ...SERVICE,
    folder: path.join(import.meta.dirname, "fixture/till"),
  });
  await using proxy = await recordingProxy(server.url);
  const db = createDatabase({ url: proxy.url, ...SERVICE, poolSize: 1, onError: () => {} });
  await db.query("select 1");
  proxy.sent.length = 0;
  const lookup = { name: "two", planning: "indexLookups", text: "select 2", values: [] } as const;
  await db.transaction((tx) => Promise.all([tx.query("savepoint one"), tx.query(lookup)]));
  expect(proxy.sent).toEqual([
    expect.stringMatching(/begin.*savepoint one.*set local.*select 2/s),
    expect.stringContaining("commit"),
  ]);
  await db.close();
});
