import { execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";

import { findDistributionPostgres } from "./distribution-postgres.ts";

/** A server or a program that some tests need and that `npm test` does not install. */
export type OptionalServer = {
  /** Test files named `*.<name>.test.ts` need it. */
  readonly name: string;
  readonly isAvailable: () => boolean;
  /** How to make it available. */
  readonly remedy: string;
};

const TIMEOUT_MS = 3_000;
/** It takes a tenth of a second, but not on a busy machine. */
const JAVA_TIMEOUT_MS = 30_000;

const KAFKA_JAVA_VERSION = 17;

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
  {
    name: "pgbouncer",
    isAvailable: () => isInPath("pgbouncer"),
    remedy: "install pgbouncer",
  },
  {
    name: "postgresql",
    isAvailable: () => findDistributionPostgres() !== undefined,
    remedy: "install PostgreSQL 15 or later of the distribution (Debian: postgresql)",
  },
  {
    name: "kafka",
    isAvailable: () => findKafka() !== undefined,
    remedy: "install Java 17 or later and Maven, set KAFKA_BROKERS, or start Docker",
  },
  {
    name: "helm",
    isAvailable: () => isInPath("helm") && isInPath("kubernetes-validate"),
    remedy: "install Helm 3.14 or later, and kubernetes-validate with pip",
  },
  {
    name: "promtool",
    isAvailable: () => isInPath("promtool"),
    remedy: "install Prometheus, which contains promtool",
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

export type KafkaSource = { readonly brokers: string } | "program" | "container";

/** Where tests get Kafka from: KAFKA_BROKERS, else Java with Maven, else a container. */
export function findKafka(): KafkaSource | undefined {
  const brokers = process.env["KAFKA_BROKERS"];
  if (brokers) return { brokers };
  if (javaVersion() >= KAFKA_JAVA_VERSION && isInPath("mvn")) return "program";
  return hasDocker() ? "container" : undefined;
}

/** The major version of `java` in PATH; 0 without one. */
function javaVersion(): number {
  const { stderr } = spawnSync("java", ["-version"], {
    encoding: "utf8",
    timeout: JAVA_TIMEOUT_MS,
  });
  return Number(/version "(?<major>\d+)/u.exec(stderr)?.groups?.["major"] ?? 0);
}

/** Whether a Docker engine responds; a client without an engine is not enough. */
export const hasDocker = (): boolean =>
  runs("docker", ["version", "--format", "{{.Server.Version}}"]);

/** For programs that take long to start. */
const isInPath = (program: string): boolean =>
  // Debian installs servers in a folder that is in the PATH of root only.
  `${process.env["PATH"] ?? ""}${path.delimiter}/usr/sbin`
    .split(path.delimiter)
    .some((folder) => existsSync(path.join(folder, program)));

function runs(program: string, args: readonly string[]): boolean {
  try {
    execFileSync(program, args, { stdio: "ignore", timeout: TIMEOUT_MS });
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
