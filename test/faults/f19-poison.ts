import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

import { listDeadLetters, replayDeadLetters } from "./dead-letters.ts";
import type { Fault } from "./fault.ts";
import { brokerIn } from "./installation.ts";
import { readTopics, send } from "./kafka-records.ts";
import { countEntries } from "./ledger.ts";
import { until } from "./shop.ts";

const TOPIC = "scrip.orders.v1";
const GROUP = "loyalty-earning";
const LARGE = 900_000;

export const poison: Fault = {
  id: "F19",
  title:
    "Records that are not events: truncated, of another schema, of an unknown type, 900 KB, empty",
  criterion: "dead letters with their cause; later events follow; a replay earns nothing twice",
  inEveryRun: true,
  buses: ["kafka"],
  async run(installation, { report }) {
    const { shop, database } = installation;
    const broker = brokerIn(installation);
    const { client } = broker;
    await shop.pay(2 * shop.cards.length);
    await shop.settle();
    const [good] = await readTopics(client, /^scrip\.orders\.v1$/);
    const partitions = [...Array(12).keys()];
    const value = good?.value as Buffer;
    const bad = [
      value.subarray(0, value.length - 20),
      Buffer.from("{not protobuf}"),
      eventOf("scrip.events.v1.OrderPaid", Buffer.from([255, 255, 255])),
      Buffer.alloc(LARGE, 255),
      Buffer.alloc(0),
    ];
    const skipped = [eventOf("scrip.events.v9.Unknown", Buffer.from([8, 1])), null];
    await send(
      client,
      partitions.flatMap((partition) =>
        [...bad, ...skipped].map((one) => ({ topic: TOPIC, partition, key: "poison", value: one })),
      ),
    );
    await shop.pay(2 * shop.cards.length);
    report(`later events earned their points after ${(await shop.settle()).toFixed(0)} ms`);
    const letters = partitions.length * bad.length;
    await until(async () => (await listDeadLetters(installation, GROUP)).length === letters);
    report(`${letters} dead letters`);
    const entries = await countEntries(database);
    await replayDeadLetters(installation, GROUP);
    // Only those with a valid envelope are events at all, and fail again.
    await until(
      async () => (await listDeadLetters(installation, GROUP)).length === partitions.length,
    );
    await shop.settle();
    if ((await countEntries(database)) !== entries) throw new Error("a replay changed the ledger");
  },
};

/** An event whose envelope is valid. */
function eventOf(type: string, payload: Uint8Array): Buffer {
  const writer = new BinaryWriter();
  const fields = { 1: "evt_poison", 2: "proj_poison", 3: "poison", 4: type };
  for (const [field, text] of Object.entries(fields))
    writer.tag(Number(field), WireType.LengthDelimited).string(text);
  writer.tag(6, WireType.LengthDelimited).bytes(payload);
  writer.tag(7, WireType.Varint).int64(Date.now());
  return Buffer.from(writer.finish());
}
