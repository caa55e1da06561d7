import { once } from "node:events";
import { connect } from "node:net";
import { Worker } from "node:worker_threads";

/** Accepts nothing, because its event loop is blocked. */
const LISTEN = `
  const { parentPort } = require("node:worker_threads");
  const server = require("node:net").createServer();
  server.listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
  });`;

/** Linux queues one connection more than the backlog, and drops the packets of others. */
const QUEUED = 2;

/** A port whose packets are dropped: connections are neither opened nor rejected. */
export async function startBlackHole(): Promise<AsyncDisposable & { readonly url: string }> {
  const listener = new Worker(LISTEN, { eval: true });
  const [port] = (await once(listener, "message")) as [number];
  const queued = Array.from({ length: QUEUED }, () => connect(port, "127.0.0.1"));
  await Promise.all(queued.map((socket) => once(socket, "connect")));
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of queued) socket.on("error", () => {}).destroy();
      await listener.terminate();
    },
  };
}
