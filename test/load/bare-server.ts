import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** An HTTP server that rejects every request at once: the least that rejections take with Node. */
const BODY = JSON.stringify({ code: 429, key: "too_many_requests", details: "x".repeat(120) });

const server = createServer((_, res) => {
  res.writeHead(429, { "Content-Type": "application/json", "Retry-After": "1" });
  res.end(BODY);
});
server.listen({ port: 0, host: "127.0.0.1", backlog: 4_096 }, () => {
  process.send?.((server.address() as AddressInfo).port);
});
process.once("disconnect", () => process.exit());
