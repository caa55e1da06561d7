import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";

import { createDatabaseFrom, type TestServer } from "@scrip/testing/empty-database";
import startPostgres from "@scrip/testing/global-setup";
import { oncePerRun } from "@scrip/testing/once-per-run";
import type { TestProject } from "vitest/node";

import { type Composition, type Stack, startComposition } from "./compositions.ts";

/**
 * Provides a Postgres server and one shared stack per composition, for all projects of the run. A stack is
 * started when the first test file requests it, so that a run of one file starts only what it needs. Test
 * files run in separate processes and request stacks over HTTP.
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
  const stacks = sharedStacks(postgres);
  parts.defer(() => stacks.end());
  const server = createServer((request, response) => {
    const composition = (["standalone", "distributed"] as const).find(
      (each) => request.url === `/${each}`,
    );
    if (composition === undefined) response.writeHead(404).end();
    else void respondWithStack(response, stacks.get(composition));
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

function sharedStacks(server: TestServer) {
  const stacks = new Map<Composition, Promise<Stack>>();
  return {
    get(composition: Composition): Promise<Stack> {
      const known = stacks.get(composition);
      if (known !== undefined) return known;
      const started = cluster() ?? start(composition, server);
      stacks.set(composition, started);
      return started;
    },
    async end(): Promise<void> {
      const started = await Promise.allSettled(stacks.values());
      const running = started.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
      await Promise.all(running.map((stack) => stack[Symbol.asyncDispose]()));
    },
  };
}

const start = async (composition: Composition, server: TestServer): Promise<Stack> =>
  startComposition(composition, { database: await createDatabaseFrom(server, "template1") });

/** The cluster of `npm run cluster`, for every composition, when TEST_CLUSTER names its file. */
function cluster(): Promise<Stack> | undefined {
  const file = process.env["TEST_CLUSTER"];
  if (!file) return undefined;
  return readFile(file, "utf8").then((text) => ({
    ...(JSON.parse(text) as Stack),
    [Symbol.asyncDispose]: async () => {},
  }));
}

async function respondWithStack(response: ServerResponse, stack: Promise<Stack>): Promise<void> {
  try {
    response.end(JSON.stringify(await stack));
  } catch (error) {
    response.writeHead(500).end(String(error));
  }
}
