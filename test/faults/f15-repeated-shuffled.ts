import type { Fault } from "./fault.ts";
import { brokerIn } from "./installation.ts";
import { partitionRecords, readTopics, repeatShuffled, send } from "./kafka-records.ts";
import { ledgerHash } from "./ledger.ts";

const ORDERS = 600;
const SHUFFLED_WITHIN = 1_000;
const TIMES = 3;

/** `services/loyalty/test/shuffled-events.test.ts` delivers them in this way the first time, too. */
export const repeatedShuffled: Fault = {
  id: "F15",
  title: "Every event is delivered three times more, shuffled within 1,000",
  criterion: "the ledger is the same, byte by byte",
  inEveryRun: true,
  buses: ["kafka"],
  async run(installation, { random, report }) {
    const { shop, database } = installation;
    const { client } = brokerIn(installation);
    await shop.pay(ORDERS);
    await shop.settle();
    const before = await ledgerHash(database);
    const records = await readTopics(client, /^scrip\./);
    const repeated = partitionRecords(records).flatMap((some) =>
      repeatShuffled(some, { times: TIMES, within: SHUFFLED_WITHIN, random }),
    );
    await send(client, repeated);
    // Events of these orders follow the repetitions in each partition of a card.
    await shop.pay(2 * shop.cards.length);
    await shop.settle();
    const after = await ledgerHash(database, before.entries);
    report(`${records.length} events, ${repeated.length} repetitions, ${before.entries} entries`);
    if (after.hash !== before.hash) throw new Error("the ledger has changed");
  },
};
