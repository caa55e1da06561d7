import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, statSync } from "node:fs";
import { mkdir, open, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

import { accepts } from "./accepts.ts";

const run = promisify(execFile);

/** A Kafka broker that this process started. */
export type KafkaProgram = AsyncDisposable & {
  readonly brokers: string;
  /** Certificate of the secured listener, in PEM format. */
  readonly certificate: string | undefined;
  /** Ends the broker as a crash does. */
  readonly kill: () => Promise<void>;
  /** Starts the broker again, with its data, on the same port. */
  readonly restart: () => Promise<void>;
  /** Ends the broker and deletes all its data. */
  readonly wipe: () => Promise<void>;
};

export type KafkaProgramOptions = {
  /** The data, the settings and the log of the broker. */
  readonly folder: string;
  readonly port: number;
  /** The port of the controller, which only the broker itself uses. */
  readonly controllerPort: number;
  /** A second listener, with encryption and credentials. Default: none. */
  readonly secured?: SecuredListener;
};

/** A listener of the protocol SASL_SSL, with a user for PLAIN and SCRAM. */
export type SecuredListener = {
  readonly port: number;
  readonly username: string;
  readonly password: string;
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
const DATA = "data";
const CLUSTER_ID = "4L6g3nShT-eMCtK--X86sw";

/** Starts a single broker in KRaft mode; Maven downloads it the first time. */
export async function startKafkaProgram(options: KafkaProgramOptions): Promise<KafkaProgram> {
  const java = [...JVM, ...LOGGING, "-cp", await classpath()];
  const settings = path.join(options.folder, "server.properties");
  await mkdir(options.folder, { recursive: true });
  await writeFile(settings, serverProperties(options));
  const certificate = options.secured && (await makeCertificate(options.folder));
  const users = options.secured === undefined ? [] : scramUsers(options.secured);
  const format = async (): Promise<void> => {
    const args = ["format", "--standalone", "--ignore-formatted", "-t", CLUSTER_ID, "-c", settings];
    await run("java", [...java, "kafka.tools.StorageTool", ...args, ...users]);
  };
  await format();

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
    certificate,
    kill,
    restart: start,
    async wipe() {
      await kill();
      await rm(path.join(options.folder, DATA), { recursive: true });
      await format();
    },
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

const SCRAM_MECHANISMS = ["SCRAM-SHA-256", "SCRAM-SHA-512"];
const KEYSTORE = "broker.p12";
/** Of a key that is made for one broker. */
const KEYSTORE_PASSWORD = "keystore";

/** Makes a key for 127.0.0.1 with the keytool of Java; returns its certificate, which it signs itself. */
async function makeCertificate(folder: string): Promise<string> {
  const store = ["-keystore", path.join(folder, KEYSTORE), "-storepass", KEYSTORE_PASSWORD];
  const names = ["-alias", "broker", "-dname", "CN=127.0.0.1", "-ext", "SAN=IP:127.0.0.1"];
  const key = ["-keyalg", "EC", "-groupname", "secp256r1", "-validity", "30"];
  await run("keytool", ["-genkeypair", ...store, "-storetype", "PKCS12", ...names, ...key]);
  const { stdout } = await run("keytool", ["-exportcert", "-rfc", ...store, "-alias", "broker"]);
  return stdout;
}

const scramUsers = ({ username, password }: SecuredListener): readonly string[] =>
  SCRAM_MECHANISMS.flatMap((mechanism) => [
    "--add-scram",
    `${mechanism}=[name=${username},password=${password}]`,
  ]);

function securedProperties(folder: string, { username, password }: SecuredListener): string {
  const login = "org.apache.kafka.common.security";
  const scram = SCRAM_MECHANISMS.map(
    (mechanism) =>
      `listener.name.sasl_ssl.${mechanism.toLowerCase()}.sasl.jaas.config=${login}.scram.ScramLoginModule required;`,
  );
  return `sasl.enabled.mechanisms=PLAIN,${SCRAM_MECHANISMS.join(",")}
listener.name.sasl_ssl.plain.sasl.jaas.config=${login}.plain.PlainLoginModule required user_${username}="${password}";
${scram.join("\n")}
ssl.keystore.type=PKCS12
ssl.keystore.location=${path.join(folder, KEYSTORE)}
ssl.keystore.password=${KEYSTORE_PASSWORD}
ssl.key.password=${KEYSTORE_PASSWORD}
`;
}

/** The addresses of the listeners, also as clients see them. */
const listenersOf = ({ port, controllerPort, secured }: KafkaProgramOptions): string =>
  [
    `PLAINTEXT://127.0.0.1:${port}`,
    `CONTROLLER://127.0.0.1:${controllerPort}`,
    ...(secured === undefined ? [] : [`SASL_SSL://127.0.0.1:${secured.port}`]),
  ].join(",");

const serverProperties = (options: KafkaProgramOptions): string =>
  `process.roles=broker,controller
node.id=1
controller.quorum.bootstrap.servers=127.0.0.1:${options.controllerPort}
listeners=${listenersOf(options)}
advertised.listeners=${listenersOf(options)}
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL_SSL:SASL_SSL
log.dirs=${path.join(options.folder, DATA)}
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
${options.secured === undefined ? "" : securedProperties(options.folder, options.secured)}`;
