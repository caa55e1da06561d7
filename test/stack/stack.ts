import { migratedDatabase } from "@scrip/testing";
import { inject } from "vitest";

import { type ApiResponse, type Json, managementApi, newCode } from "./api.ts";
import { startCluster } from "./cluster.ts";
import {
  type Composition,
  COMPOSITIONS,
  type ServiceName,
  type Stack,
  type StackOptions,
  startComposition,
} from "./compositions.ts";

export { type Composition, COMPOSITIONS, type ServiceName, type Stack } from "./compositions.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Address at which `global-setup.ts` returns the shared stacks. */
    stacksUrl: string;
  }
}

const logs = new Set<string>();

/** The log files of the stacks that this test file uses. */
export const usedLogs = (): readonly string[] => [...logs];

/**
 * Starts a separate stack on its own database: for tests that crash it, read all of its data or logs,
 * or exhaust its limits. With TEST_CLUSTER it is a cluster of its own.
 */
export const startStack = (
  composition: Composition,
  env: Readonly<Record<string, string>> = {},
): Promise<Stack> =>
  startLogged({ env }, (options) =>
    process.env["TEST_CLUSTER"] ? startCluster(options) : startComposition(composition, options),
  );

/** Never a cluster with replicas, for tests of the bounds of a process. */
export const startSingleProcesses = (
  composition: Composition,
  nodeArgs: readonly string[],
): Promise<Stack> => startLogged({ nodeArgs }, (options) => startComposition(composition, options));

async function startLogged(
  options: Omit<StackOptions, "database">,
  start: (options: StackOptions) => Promise<Stack>,
): Promise<Stack> {
  const stack = await start({ ...options, database: await migratedDatabase() });
  logs.add(stack.log);
  return stack;
}

type Controls = Pick<Stack, "crash" | "startReplica" | "stopReplicas">;

/** A stack shared by all test files, with the keys of a separate project for this file. */
export type SharedStack = Omit<
  Stack,
  keyof Controls | "restart" | "pids" | typeof Symbol.asyncDispose
> & {
  readonly projectId: string;
};

/**
 * Returns the shared stack of this composition, started by the first test file that requests it, with a
 * new project. Tests must not depend on data outside their project.
 */
export const sharedStack = (composition: Composition): Promise<SharedStack> =>
  withProject(`shared/${composition}`);

export type CrashableStack = SharedStack & {
  readonly crash: (service?: ServiceName) => Promise<void>;
  readonly startReplica: () => Promise<string>;
  readonly stopReplicas: () => Promise<void>;
};

/**
 * Returns a stack of each composition that tests may crash, with a new project. Files that run at the same
 * time must not share it: they are in `e2e-alone`, or `imports.test.ts`.
 */
export const crashableStacks = () =>
  Object.fromEntries(
    COMPOSITIONS.map((composition) => [composition, crashableStack(composition)]),
  ) as Readonly<Record<Composition, Promise<CrashableStack>>>;

export async function crashableStack(composition: Composition): Promise<CrashableStack> {
  const path = `crashed/${composition}`;
  const stack = await withProject(path);
  return {
    ...stack,
    async crash(service) {
      await request(`${path}/crash${service === undefined ? "" : `?service=${service}`}`);
    },
    startReplica: async () => (await request(`${path}/start-replica`)) as string,
    async stopReplicas() {
      await request(`${path}/stop-replicas`);
    },
  };
}

async function withProject(path: string): Promise<SharedStack> {
  const stack = (await request(path)) as Omit<SharedStack, "projectId">;
  logs.add(stack.log);
  const project = createdProject(
    await managementApi(stack).post("/management/v1/projects", {
      name: newCode("file"),
      client_trusted_domains: ["*"],
    }),
  );
  const { app_id: appId, app_token: appToken } = project["server_side_key"];
  const { app_id: clientAppId, app_token: clientToken } = project["client_side_key"];
  const keys = { ...stack.keys, appId, appToken, clientAppId, clientToken };
  return { ...stack, keys, projectId: project["id"] };
}

/** What the global setup responds to a request for a stack. */
async function request(path: string): Promise<unknown> {
  const response = await fetch(`${inject("stacksUrl")}/${path}`);
  if (!response.ok) throw new Error(await response.text());
  return response.json();
}

function createdProject({ status, body, text }: ApiResponse): Json {
  if (status !== 200) throw new Error(`no project: ${text}`);
  return body;
}
