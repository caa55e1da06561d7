import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

import type { Fault } from "./fault.ts";
import { describeLoad, PER_SECOND, WARM_UP_MS } from "./load.ts";

const SOCKETS = 1_000;
const MAX_OPEN_MS = 12_000;
const MIN_SUCCESS = 0.999;

/** A request whose rest follows byte by byte. */
const HEADERS = "GET /v1/vouchers HTTP/1.1\r\nHost: localhost\r\nX-Slow: ";
const BODY =
  "POST /v1/validations HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{";

export const slowClients: Fault = {
  id: "F39",
  title: "1,000 clients send headers and bodies of a byte per second",
  criterion: "99.9 % of the other requests succeed; slow connections end within 12 s",
  inEveryRun: true,
  buses: ["postgres"],
  async run({ stack, shop }, { report }) {
    const load = shop.load(PER_SECOND);
    await sleep(WARM_UP_MS);
    const startedAt = performance.now();
    const port = Number(new URL(stack.url).port);
    const lastOf = async (beginning: string): Promise<number> =>
      Math.max(
        ...(await Promise.all(
          Array.from({ length: SOCKETS / 2 }, () => sendSlowly(port, beginning)),
        )),
      );
    const [headersMs, bodiesMs] = await Promise.all([lastOf(HEADERS), lastOf(BODY)]);
    report(`the last headers end after ${(headersMs / 1_000).toFixed(1)} s`);
    report(`the last bodies end after ${(bodiesMs / 1_000).toFixed(1)} s`);
    const result = await load.stop();
    report(`${describeLoad(result)}, in ${((performance.now() - startedAt) / 1_000).toFixed(0)} s`);
    assert(Math.max(headersMs, bodiesMs) < MAX_OPEN_MS, "a slow connection stays open");
    assert(result.failures <= result.requests * (1 - MIN_SUCCESS), "other requests failed");
  },
};

/** Sends a byte per second until the server ends the connection; returns how long that took. */
async function sendSlowly(port: number, beginning: string): Promise<number> {
  const socket: Socket = connect({ port, host: "127.0.0.1" });
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  socket.on("error", () => {});
  await once(socket, "connect");
  const startedAt = performance.now();
  socket.resume();
  socket.write(beginning);
  const timer = setInterval(() => socket.write("x"), 1_000);
  await closed;
  clearInterval(timer);
  return performance.now() - startedAt;
}
