import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, statSync } from "node:fs";
import { mkdir, open, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

import { accepts } from "./accepts.ts";

const run = promisify(execFile);

/** A Kafka broker that this process started. */
export type KafkaProgram = AsyncDisposable & {
  readonly brokers: string;
  /** Ends the broker as a crash does. */
  readonly kill: () => Promise<void>;
  /** Starts the broker again, with its data, on the same port. */
  readonly restart: () => Promise<void>;
};

export type KafkaProgramOptions = {
  /** The data, the settings and the log of the broker. */
  readonly folder: string;
  readonly port: number;
  /** The port of the controller, which only the broker itself uses. */
  readonly controllerPort: number;
};

const POM = path.join(import.meta.dirname, "../kafka/pom.xml");
const CLASSPATH = path.join(import.meta.dirname, "../kafka/target/classpath");

const DOWNLOAD_TIMEOUT_MS = 300_000;
const START_TIMEOUT_MS = 60_000;
const POLL_MS = 50;

/** Start-up time matters more than throughput. */
const JVM = ["-Xms128m", "-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"];
const LOGGING = [
  "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
  "-Dorg.slf4j.simpleLogger.showDateTime=true",
];
const CLUSTER_ID = "4L6g3nShT-eMCtK--X86sw";

/** Starts a single broker in KRaft mode; Maven downloads it the first time. */
export async function startKafkaProgram(options: KafkaProgramOptions): Promise<KafkaProgram> {
  const java = [...JVM, ...LOGGING, "-cp", await classpath()];
  const settings = path.join(options.folder, "server.properties");
  await mkdir(options.folder, { recursive: true });
  await writeFile(settings, serverProperties(options));
  const format = ["format", "--standalone", "--ignore-formatted", "-t", CLUSTER_ID, "-c", settings];
  await run("java", [...java, "kafka.tools.StorageTool", ...format]);

  let stop: (() => Promise<void>) | undefined;
  const kill = async (): Promise<void> => {
    await stop?.();
    stop = undefined;
  };
  const start = async (): Promise<void> => {
    await kill();
    stop = await startBroker([...java, "kafka.Kafka", settings], options);
  };
  await start();
  return {
    brokers: `127.0.0.1:${options.port}`,
    kill,
    restart: start,
    [Symbol.asyncDispose]: kill,
  };
}

/** The jars of the broker. Maven resolves them once, and again after a change of `pom.xml`. */
async function classpath(): Promise<string> {
  if (existsSync(CLASSPATH) && statSync(CLASSPATH).mtimeMs >= statSync(POM).mtimeMs) {
    const jars = await readFile(CLASSPATH, "utf8");
    if (jars.split(path.delimiter).every((jar) => existsSync(jar))) return jars;
  }
  await run("mvn", ["-q", "-B", "-f", POM, "dependency:build-classpath"], {
    timeout: DOWNLOAD_TIMEOUT_MS,
  });
  return readFile(CLASSPATH, "utf8");
}

/** Starts the broker; returns how to end it. */
async function startBroker(
  args: readonly string[],
  { folder, port }: KafkaProgramOptions,
): Promise<() => Promise<void>> {
  const logFile = path.join(folder, "kafka.log");
  await using output = await open(logFile, "a");
  const broker = spawn("java", args, { stdio: ["ignore", output.fd, output.fd] });
  // A process that fails before its clean-up must not leave the broker behind.
  const endWithProcess = (): boolean => broker.kill("SIGKILL");
  process.once("exit", endWithProcess);
  broker.once("exit", () => process.off("exit", endWithProcess));
  const exited = once(broker, "exit");
  const deadline = performance.now() + START_TIMEOUT_MS;
  while (performance.now() < deadline && broker.exitCode === null) {
    if (await accepts(port)) {
      return async () => {
        broker.kill("SIGKILL");
        await exited;
      };
    }
    await sleep(POLL_MS);
  }
  broker.kill("SIGKILL");
  throw new Error(`Kafka has not started: ${(await readFile(logFile, "utf8")).slice(-4_000)}`);
}

const serverProperties = ({ folder, port, controllerPort }: KafkaProgramOptions): string =>
  `process.roles=broker,controller
node.id=1
controller.quorum.bootstrap.servers=127.0.0.1:${controllerPort}
listeners=PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}
advertised.listeners=PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs=${path.join(folder, "data")}
auto.create.topics.enable=false
offsets.topic.replication.factor=1
offsets.topic.num.partitions=3
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
# Tests end consumers without a farewell; their successors must not wait long.
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=500
num.network.threads=2
num.io.threads=2
log.cleaner.dedupe.buffer.size=2097152
`;
