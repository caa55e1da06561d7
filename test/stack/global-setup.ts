import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";

import { createDatabaseFrom, type TestServer } from "@scrip/testing/empty-database";
import startPostgres from "@scrip/testing/global-setup";
import { oncePerRun } from "@scrip/testing/once-per-run";
import type { TestProject } from "vitest/node";

import { startCluster } from "./cluster.ts";
import {
  type Composition,
  type ServiceName,
  type Stack,
  startComposition,
} from "./compositions.ts";

/**
 * Provides a Postgres server and stacks for all projects of the run: of each composition, one that all test
 * files share, and one that files crash which do not run at the same time. A stack is started when the
 * first test file requests it, so that a run of one file starts only what it needs. Test files run in
 * separate processes and request stacks over HTTP.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await using parts = new AsyncDisposableStack();
  parts.defer(await startPostgres(project));
  const server = project.getProvidedContext();
  const { url } = parts.use(await oncePerRun("stacks", () => serveStacks(server)));
  project.provide("stacksUrl", url);

  const running = parts.move();
  return () => running.disposeAsync();
}

async function serveStacks(postgres: TestServer) {
  await using parts = new AsyncDisposableStack();
  const stacks = startedOnce(postgres);
  parts.defer(() => stacks.end());
  const server = createServer(({ url = "/" }, response) => {
    void respond(response, handle(url, stacks));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  parts.defer(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("not listening on a port");

  const running = parts.move();
  return {
    url: `http://127.0.0.1:${address.port}`,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

type Stacks = ReturnType<typeof startedOnce>;

/** `/shared/standalone` is a stack, `/crashed/distributed/crash?service=voucher` does something with one. */
async function handle(url: string, stacks: Stacks): Promise<unknown> {
  const { pathname, searchParams } = new URL(url, "http://stacks");
  const [, use, composition, action] = pathname.split("/");
  const stack = await stacks.get(use as Use, composition as Composition);
  switch (action) {
    case "crash":
      return stack.crash((searchParams.get("service") as ServiceName | null) ?? undefined);
    case "start-replica":
      return stack.startReplica();
    case "stop-replicas":
      return stack.stopReplicas();
    default:
      return stack;
  }
}

type Use = "shared" | "crashed";

function startedOnce(server: TestServer) {
  const stacks = new Map<string, Promise<Stack>>();
  return {
    get(use: Use, composition: Composition): Promise<Stack> {
      const name = `${use} ${composition}`;
      const known = stacks.get(name);
      if (known !== undefined) return known;
      const started = (use === "shared" && cluster()) || start(composition, server);
      stacks.set(name, started);
      // The next file that requests it tries again.
      started.catch(() => stacks.delete(name));
      return started;
    },
    async end(): Promise<void> {
      const started = await Promise.allSettled(stacks.values());
      const running = started.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
      await Promise.all(running.map((stack) => stack[Symbol.asyncDispose]()));
    },
  };
}

/** On an empty database, as at a first start. With TEST_CLUSTER it is a cluster of its own. */
async function start(composition: Composition, server: TestServer): Promise<Stack> {
  const database = await createDatabaseFrom(server, "template1");
  return process.env["TEST_CLUSTER"]
    ? startCluster({ database })
    : startComposition(composition, { database });
}

/** The cluster of `npm run cluster`, for every composition, when TEST_CLUSTER names its file. */
function cluster(): Promise<Stack> | undefined {
  const file = process.env["TEST_CLUSTER"];
  if (!file) return undefined;
  return readFile(file, "utf8").then((text) => ({
    ...(JSON.parse(text) as Stack),
    [Symbol.asyncDispose]: async () => {},
  }));
}

async function respond(response: ServerResponse, result: Promise<unknown>): Promise<void> {
  try {
    response.end(JSON.stringify((await result) ?? null));
  } catch (error) {
    response.writeHead(500).end(String(error));
  }
}
