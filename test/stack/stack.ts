import { migratedDatabase } from "@scrip/testing";
import { inject } from "vitest";

import { type ApiResponse, type Json, managementApi, newCode } from "./api.ts";
import { startCluster } from "./cluster.ts";
import {
  type Composition,
  COMPOSITIONS,
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

/** Starts a separate stack of each composition at the same time, which takes little longer than one. */
export const startStacks = () =>
  Object.fromEntries(
    COMPOSITIONS.map((composition) => [composition, startStack(composition)]),
  ) as Readonly<Record<Composition, Promise<Stack>>>;

/** A stack shared by all test files, with the keys of a separate project for this file. */
export type SharedStack = Omit<
  Stack,
  "crash" | "startReplica" | "stopReplicas" | typeof Symbol.asyncDispose
> & {
  readonly projectId: string;
};

/**
 * Returns the shared stack of this composition, started by the first test file that requests it, with a
 * new project. Tests must not depend on data outside their project.
 */
export async function sharedStack(composition: Composition): Promise<SharedStack> {
  const response = await fetch(`${inject("stacksUrl")}/${composition}`);
  if (!response.ok) throw new Error(await response.text());
  const stack = (await response.json()) as Omit<SharedStack, "projectId">;
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

function createdProject({ status, body, text }: ApiResponse): Json {
  if (status !== 200) throw new Error(`no project: ${text}`);
  return body;
}
