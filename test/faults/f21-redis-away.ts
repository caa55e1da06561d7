import assert from "node:assert/strict";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

import { createApi, inParallel, newProject } from "../stack/api.ts";
import type { Fault } from "./fault.ts";
import { redisIn } from "./installation.ts";
import { describeLoad, WARM_UP_MS } from "./load.ts";
import { until } from "./shop.ts";

const AWAY_MS = 60_000;
const SHORT_AWAY_MS = 15_000;
/** More than the shop sends in a minute, less than a flood. */
const LIMIT = 1_500;
/** Each gateway gets requests until it has rejected so many. */
const REJECTIONS = 100;
const PER_SECOND = 8;
const TOLERANCE = 0.5;
const MIN_SUCCESS = 0.999;
const WIDTH = 16;

export const redisAway: Fault = {
  id: "F21",
  title: "Redis is killed for a minute, and is empty afterwards",
  criterion:
    "99.9 % of the requests succeed; each gateway holds the limit alone, ± 50 %; the cache of tokens is rebuilt",
  inEveryRun: true,
  buses: ["postgres"],
  setup: {
    composition: "distributed",
    replicas: { gateway: 2 },
    redis: true,
    env: { SCRIP_LIMIT_CALLS_PER_MINUTE: String(LIMIT) },
  },
  async run(installation, { full, report }) {
    const { stack, shop } = installation;
    const redis = redisIn(installation);
    const flooded = await newProject(stack);
    const load = shop.load(PER_SECOND);
    await sleep(WARM_UP_MS);
    assert((await tokensIn(redis.url)) > 0, "no token is cached");
    await redis.kill();
    const killedAt = performance.now();
    const admitted: number[] = [];
    for (const url of stack.gateways) {
      const gateway = createApi(url, flooded.api.headers);
      const startedAt = performance.now();
      const statuses: number[] = [];
      let rejections = 0;
      await inParallel(Array.from({ length: WIDTH }), WIDTH, async () => {
        while (rejections < REJECTIONS) {
          const { status } = await gateway.get("/v1/customers?limit=1");
          statuses.push(status);
          if (status === 429) rejections += 1;
        }
      });
      const count = statuses.filter((status) => status === 200).length;
      admitted.push(count);
      const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
      report(`a gateway admitted ${count} requests within ${seconds} s (limit ${LIMIT})`);
      const others = statuses.filter((status) => status !== 200 && status !== 429);
      assert.deepEqual(others, [], "requests got other responses");
    }
    await sleep(Math.max((full ? AWAY_MS : SHORT_AWAY_MS) - (performance.now() - killedAt), 0));
    await redis.restart();
    await until(async () => (await tokensIn(redis.url)) > 0);
    report("tokens are cached again");
    const result = await load.stop();
    report(describeLoad(result));
    report(`accruals complete after ${(await shop.settle()).toFixed(0)} ms`);
    const failed = result.failures / result.requests;
    assert(failed <= 1 - MIN_SUCCESS, "requests failed while Redis was unavailable");
    for (const count of admitted) {
      assert(Math.abs(count / LIMIT - 1) <= TOLERANCE, "the local limit does not hold");
    }
  },
};

/** How many tokens Redis holds. */
function tokensIn(url: string): Promise<number> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write("KEYS scrip:credentials:*\r\n");
    });
    socket.once("error", reject).once("data", (data) => {
      socket.destroy();
      // The first line of an array is its length.
      resolve(Number(/^\*(\d+)/.exec(data.toString())?.[1]));
    });
  });
}
