import { execFileSync } from "node:child_process";

/** A server that some tests need and that `npm test` does not install. */
export type OptionalServer = {
  /** Test files named `*.<name>.test.ts` need this server. */
  readonly name: string;
  readonly isAvailable: () => boolean;
  /** How to make the server available. */
  readonly remedy: string;
};

const DOCKER_TIMEOUT_MS = 3_000;

export const OPTIONAL_SERVERS: readonly OptionalServer[] = [
  {
    name: "redis",
    isAvailable: () => findRedis() !== undefined,
    remedy: "install redis-server, set TEST_REDIS_URL, or start Docker",
  },
  {
    name: "s3",
    isAvailable: () => runs("rclone", ["serve", "s3", "--help"]),
    remedy: "install rclone 1.65 or later, whose `serve s3` is the store",
  },
];

export type RedisSource = { readonly url: string } | "program" | "container";

/** Where tests get Redis from: TEST_REDIS_URL, else redis-server in PATH, else a container. */
export function findRedis(): RedisSource | undefined {
  const url = process.env["TEST_REDIS_URL"];
  if (url) return { url };
  if (runs("redis-server", ["--version"])) return "program";
  return hasDocker() ? "container" : undefined;
}

/** Whether a Docker engine responds; a client without an engine is not enough. */
export const hasDocker = (): boolean =>
  runs("docker", ["version", "--format", "{{.Server.Version}}"]);

function runs(program: string, args: readonly string[]): boolean {
  try {
    execFileSync(program, args, { stdio: "ignore", timeout: DOCKER_TIMEOUT_MS });
    return true;
  } catch {
    return false;
  }
}

/**
 * The servers whose tests this run leaves out. In CI every server must exist, so nothing is left out
 * and the tests of a missing server fail.
 */
export const missingServers = (): readonly OptionalServer[] =>
  process.env["CI"] ? [] : OPTIONAL_SERVERS.filter((server) => !server.isAvailable());
