// npm run kafka: a broker for development, with its data in .scrip/kafka. Ctrl-C stops it.
import path from "node:path";

import { startKafkaProgram } from "./kafka-program.ts";

const PORT = 9092;

const kafka = await startKafkaProgram({
  folder: path.resolve(".scrip/kafka"),
  port: PORT,
  controllerPort: PORT + 1,
});
console.log(`Kafka accepts connections at ${kafka.brokers}`);
const stop = async (): Promise<void> => {
  await kafka.kill();
  process.exit();
};
process.once("SIGINT", stop).once("SIGTERM", stop);
