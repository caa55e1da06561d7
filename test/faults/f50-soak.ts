import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";

import { memoryOf } from "../load/memory.ts";
import { SERVICES } from "../stack/compositions.ts";
import type { Fault } from "./fault.ts";
import { brokerIn, redisIn } from "./installation.ts";
import { describeLoad, PER_SECOND } from "./load.ts";

const MINUTES = 30;
const CALM_MS = 20_000;
const AWAY_MS = 10_000;
/** Per minute. */
const MAX_SLOPE_MIB = 1;
/** What callers have to expect while a process or the broker is away; 409: the attempt before is still at work. */
const EXPLAINED = /^(?:(?:503|504|429) |409 (?:idempotency_in_progress|multiple_requests)$)/;

export const soak: Fault = {
  id: "F50",
  title: "Half an hour in which processes, Kafka and Redis are killed at random",
  criterion: "books exact; memory grows by less than 1 MiB per minute; no unexplained error",
  inEveryRun: false,
  buses: ["kafka"],
  setup: {
    composition: "distributed",
    redis: true,
    // Garbage that is collected late would look like growth.
    nodeArgs: ["--max-old-space-size=160"],
  },
  async run(installation, { random, report }) {
    const { stack, shop } = installation;
    const broker = brokerIn(installation);
    const redis = redisIn(installation);
    const gatewayMiB = (): number => memoryOf(stack).get("gateway") ?? 0;
    const pick = <Item>(items: readonly Item[]): Item =>
      items[Math.floor(random() * items.length)]!;
    const faults = {
      process: () => stack.crash(pick(SERVICES)),
      broker: async () => {
        await broker.kill();
        await sleep(AWAY_MS);
        await broker.restart();
      },
      redis: async () => {
        await redis.kill();
        await sleep(AWAY_MS);
        await redis.restart();
      },
    };
    const minutes = Number(process.env["SOAK_MINUTES"] ?? MINUTES);
    const counts = { process: 0, broker: 0, redis: 0 };
    // The gateway is never killed: its memory is compared after a warm-up, and at the end.
    const memory: { readonly minute: number; readonly mib: number }[] = [];
    const load = shop.load(PER_SECOND);
    const startedAt = performance.now();
    const minute = (): number => (performance.now() - startedAt) / 60_000;
    while (minute() < minutes) {
      const name = pick(["process", "broker", "redis"] as const);
      await faults[name]();
      counts[name] += 1;
      await sleep(CALM_MS);
      memory.push({ minute: minute(), mib: gatewayMiB() });
    }
    const result = await load.stop();
    const slope = slopeOf(memory.slice(Math.floor(memory.length / 3)));
    report(
      `${counts.process} processes, ${counts.broker} brokers and ${counts.redis} Redis killed`,
    );
    report(describeLoad(result));
    report(
      `the gateway has ${memory.at(-1)?.mib.toFixed(0)} MiB, ${slope.toFixed(2)} MiB more per minute`,
    );
    report(`accruals complete after ${(await shop.settle()).toFixed(0)} ms`);
    const unexplained = [...result.errors.keys()].filter((name) => !EXPLAINED.test(name));
    assert.deepEqual(unexplained, [], "requests failed without a cause");
    assert(slope < MAX_SLOPE_MIB, "the memory grows");
  },
};

/** Of the line with the least squares. */
function slopeOf(points: readonly { readonly minute: number; readonly mib: number }[]): number {
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  const minute = mean(points.map((point) => point.minute));
  const mib = mean(points.map((point) => point.mib));
  const above = points.reduce((sum, point) => sum + (point.minute - minute) * (point.mib - mib), 0);
  const below = points.reduce((sum, point) => sum + (point.minute - minute) ** 2, 0);
  return above / below;
}
