import { connect } from "node:net";

import { startLoadClient } from "./load.ts";

/** Unread responses of 4.7 MB that exceed the share of one project. */
const UNREAD = 12;
const CONNECTIONS = 32;
const SECONDS = 5;

/**
 * Rejects a project's heavy requests because it does not read its earlier responses, so that the process does
 * nothing else. Returns the processor time of a rejection in microseconds, which does not depend on the load
 * of the machine as latencies do.
 */
export async function measureRejections({
  port,
  request,
  cpuSeconds,
}: {
  readonly port: number;
  readonly request: string;
  readonly cpuSeconds: () => number;
}): Promise<{ readonly microseconds: number; readonly statuses: string }> {
  const sockets = Array.from({ length: UNREAD }, () =>
    connect({ port, host: "127.0.0.1" })
      .on("error", () => {})
      .pause(),
  );
  try {
    for (const socket of sockets) {
      socket.write(request, "latin1");
      // One after the other, so that none is rejected.
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    using client = startLoadClient();
    const run = async (seconds: number) => {
      const before = cpuSeconds();
      const { statuses } = await client.run({
        port,
        connections: CONNECTIONS,
        seconds,
        ratePerSecond: null,
        // Connections of proxies are not paused.
        before: request.replace("\r\n", "\r\nVia: 1.1 bench\r\n"),
        after: "",
        codes: [],
        bodies: [],
      });
      const rejected = statuses["429"] ?? 0;
      return {
        microseconds: ((cpuSeconds() - before) / rejected) * 1e6,
        statuses: JSON.stringify(statuses),
      };
    };
    await run(2);
    return await run(SECONDS);
  } finally {
    for (const socket of sockets) socket.destroy();
  }
}
