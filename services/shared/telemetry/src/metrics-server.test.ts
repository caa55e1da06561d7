import { expect, test } from "vitest";

import { serveMetrics } from "./metrics-server.ts";

const LOCAL = { host: "127.0.0.1", port: 0 };

async function start(text: () => Promise<string>) {
  const server = await serveMetrics({ text, contentType: "text/plain" }, LOCAL);
  return Object.assign(server, {
    status: async (method: string) => (await fetch(server.url, { method })).status,
  });
}

test("reads the metrics for GET and HEAD only", async () => {
  let reads = 0;
  await using server = await start(async () => String((reads += 1)));
  for (const method of ["POST", "PUT", "DELETE", "OPTIONS"]) {
    expect(await server.status(method)).toBe(404);
  }
  expect(reads).toBe(0);
  expect([await server.status("HEAD"), await server.status("GET")]).toEqual([200, 200]);
  expect(reads).toBe(2);
});

// Vitest fails with the unhandled rejection of a promise that nothing awaits.
test("responds with an error when the metrics cannot be read, and rejects other methods", async () => {
  await using server = await start(() => Promise.reject(new Error("a worker did not respond")));
  expect([await server.status("POST"), await server.status("GET")]).toEqual([404, 500]);
});
