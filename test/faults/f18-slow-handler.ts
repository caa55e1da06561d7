import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";

import type { Kafka } from "kafkajs";

import type { Fault } from "./fault.ts";
import { brokerIn } from "./installation.ts";
import { describeLoad, PER_SECOND, WARM_UP_MS } from "./load.ts";

const GROUP = "loyalty-earning";
const SLOW_MS = 20_000;
const SHORT_SLOW_MS = 8_000;

export const slowHandler: Fault = {
  id: "F18",
  title: "A foreign lock makes the consumers of loyalty wait for 20 seconds",
  criterion: "no member is replaced, no request fails, the consumers catch up",
  inEveryRun: true,
  buses: ["kafka"],
  async run(installation, { full, report }) {
    const { shop, database } = installation;
    const { client } = brokerIn(installation);
    const load = shop.load(PER_SECOND);
    await sleep(WARM_UP_MS);
    const before = await membersOf(client);
    await database.query("begin");
    await database.query("lock table loyalty.inbox in access exclusive mode");
    await sleep(full ? SLOW_MS : SHORT_SLOW_MS);
    await database.query("commit");
    const result = await load.stop();
    report(describeLoad(result));
    report(`accruals complete after ${(await shop.settle()).toFixed(0)} ms`);
    const after = await membersOf(client);
    assert(result.failures === 0, "requests failed");
    assert(after === before, `the members of ${GROUP} changed from ${before} to ${after}`);
  },
};

async function membersOf(client: Kafka): Promise<string> {
  const admin = client.admin();
  await admin.connect();
  const { groups } = await admin.describeGroups([GROUP]);
  await admin.disconnect();
  return groups.flatMap(({ members }) => members.map(({ memberId }) => memberId)).join(" ");
}
