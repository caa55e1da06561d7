import { testKafka, testRedis } from "@scrip/testing";

import { type Stack, startComposition, type StackOptions } from "./compositions.ts";

/** Two processes of everything, on a Kafka and a Redis of their own, behind a load balancer. */
export type Cluster = Stack & { readonly kafka: string; readonly redis: string };

const REPLICAS = 2;

export async function startCluster({ env, ...options }: StackOptions): Promise<Cluster> {
  await using parts = new AsyncDisposableStack();
  const [kafka, redis] = await Promise.all([testKafka(), testRedis()]);
  parts.use(kafka);
  parts.use(redis);
  const stack = parts.use(
    await startComposition("distributed", {
      ...options,
      replicas: REPLICAS,
      env: { SCRIP_KAFKA_BROKERS: kafka.brokers, SCRIP_REDIS_URL: redis.url, ...env },
    }),
  );
  const running = parts.move();
  return {
    ...stack,
    kafka: kafka.brokers,
    redis: redis.url,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
