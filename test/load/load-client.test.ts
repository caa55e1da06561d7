import { createServer, type Socket } from "node:net";

import { describe, expect, test } from "vitest";

import { type LoadSpec, runLoad } from "./load-client.ts";

const responseOf = (status: string, body: string): string =>
  `HTTP/1.1 ${status} X\r\nContent-Type: text/plain\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

/** Calls `respond` with each complete request. */
async function startServer(respond: (socket: Socket, path: string) => void) {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", (data) => respond(socket, data.toString("latin1").split(" ")[1] ?? ""));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as { port: number };
  return { port, [Symbol.dispose]: () => void server.close() };
}

const specOf = (port: number, more: Partial<LoadSpec> = {}): LoadSpec => ({
  port,
  connections: 4,
  seconds: 0.2,
  ratePerSecond: null,
  before: "POST /v1/",
  after: " HTTP/1.1\r\nHost: localhost\r\n\r\n",
  codes: ["A", "B"],
  bodies: [],
  ...more,
});

describe("the load client", () => {
  test("counts every response by its status, also when it arrives in pieces", async () => {
    let served = 0;
    using server = await startServer((socket) => {
      served += 1;
      const whole = responseOf(served % 3 === 0 ? "400" : "200", "some body");
      const cut = served % whole.length;
      socket.write(whole.slice(0, cut));
      setImmediate(() => socket.write(whole.slice(cut)));
    });
    const { statuses, lost, unexpectedResponse } = await runLoad(specOf(server.port));
    expect((statuses["200"] ?? 0) + (statuses["400"] ?? 0)).toBe(served);
    expect(statuses["400"]).toBe(Math.floor(served / 3));
    expect(lost).toBe(0);
    expect(unexpectedResponse).toContain("HTTP/1.1 400");
  });

  test("counts late responses, but not for the rate", async () => {
    using server = await startServer((socket) => {
      setTimeout(() => socket.write(responseOf("200", "")), 300);
    });
    const result = await runLoad(specOf(server.port));
    expect(result).toMatchObject({ statuses: { 200: 4 }, successesPerSecond: 0 });
  });

  test("counts requests whose connection ends as lost", async () => {
    using server = await startServer((socket) => socket.destroy());
    expect(await runLoad(specOf(server.port))).toMatchObject({ statuses: {}, lost: 4 });
  });

  test("keeps its rate when responses are slow, and counts waiting times as latency", async () => {
    let served = 0;
    using server = await startServer((socket) => {
      served += 1;
      setTimeout(() => socket.write(responseOf("200", "ok")), 50);
    });
    const spec = specOf(server.port, { ratePerSecond: 100, connections: 2, seconds: 0.5 });
    const { statuses, p99Ms } = await runLoad(spec);
    expect(statuses).toEqual({ 200: 50 });
    expect(served).toBe(50);
    // Two connections serve 40 requests per second: the last of 50 waits for more than half a second.
    expect(p99Ms).toBeGreaterThan(500);
  });

  test("draws evenly from all codes", async () => {
    const paths = new Map<string, number>();
    using server = await startServer((socket, path) => {
      paths.set(path, (paths.get(path) ?? 0) + 1);
      socket.write(responseOf("200", ""));
    });
    await runLoad(specOf(server.port));
    const [a = 0, b = 0] = [paths.get("/v1/A"), paths.get("/v1/B")];
    expect(Math.abs(a - b)).toBeLessThan(6 * Math.sqrt(a + b));
  });
});
