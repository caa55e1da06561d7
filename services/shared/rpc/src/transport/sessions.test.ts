import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";

import { Code } from "@connectrpc/connect";
import { expect, test } from "vitest";

import { startBlackHole } from "../../test/black-hole.ts";
import { failureOf } from "./call-failure.ts";
import { Sessions } from "./sessions.ts";
import { sendUnary } from "./unary-call.ts";

const call = (sessions: Sessions): Promise<unknown> =>
  sendUnary(sessions, {
    path: "/service/Method",
    headers: {},
    message: Buffer.from("request"),
    timeoutMs: undefined,
    signal: undefined,
    maxBytes: 1_000,
  });

test("calls over a connection that is not opened in time were not sent", async () => {
  await using hole = await startBlackHole();
  const sessions = new Sessions([hole.url]);
  const failures = [call(sessions), call(sessions)].map((sent) =>
    sent.catch((error: unknown) => failureOf(error, undefined)),
  );
  expect(await Promise.all(failures)).toEqual(["unsent", "unsent"]);
  expect(sessions.state()).toBe("error");
});

// An error of a session without a listener is an uncaught exception, with which Vitest fails.
test("connections that did not answer pings may be reset later", async () => {
  const sockets = new Set<Socket>();
  const silent = createServer((socket) => sockets.add(socket.on("error", () => {})));
  silent.listen(0, "127.0.0.1");
  await once(silent, "listening");
  const { port } = silent.address() as AddressInfo;
  const sessions = new Sessions([
    `http://127.0.0.1:${port}`,
    { pingIntervalMs: 20, pingTimeoutMs: 20 },
  ]);
  for (let time = 0; time < 2; time += 1) {
    await expect(call(sessions)).rejects.toMatchObject({
      code: Code.Unavailable,
      rawMessage: "PING timed out",
    });
  }
  const closed = [...sockets].map((socket) => once(socket, "close"));
  for (const socket of sockets) socket.resetAndDestroy();
  await Promise.all(closed);
  await expect.poll(() => sessions.state(), { timeout: 4_000 }).toBe("error");
  sessions.abort();
  silent.close();
});
