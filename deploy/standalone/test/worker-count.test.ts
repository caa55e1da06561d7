import { emptyDatabase } from "@scrip/testing";
import { expect, test } from "vitest";

import { countWorkers } from "../src/worker-count.ts";

const LARGE = { processors: 256, memoryBytes: 512 * 1024 ** 3 };
const SMALL = { processors: 2, memoryBytes: 1024 ** 3 };

test("the default number of workers has the connections that it needs, and only a configured one is rejected", async () => {
  await using database = await emptyDatabase();
  const most = await countWorkers(undefined, database.url, LARGE);
  expect(most).toBeLessThan(64);
  expect(await countWorkers(most, database.url, SMALL)).toBe(most);
  await expect(countWorkers(most + 1, database.url, LARGE)).rejects.toThrow(
    `Set SCRIP_WORKERS to ${most}, or raise max_connections`,
  );
});

test("one worker needs no look at the database", async () => {
  const unreachable = "postgresql://127.0.0.1:1/scrip";
  expect(await countWorkers(undefined, unreachable, SMALL)).toBe(1);
  expect(await countWorkers(1, unreachable, LARGE)).toBe(1);
});
