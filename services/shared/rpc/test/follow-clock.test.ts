import { adjustClock, currentTime } from "@scrip/clock";
import { emptyDatabase } from "@scrip/testing";
import { afterEach, expect, onTestFinished, test } from "vitest";

import { followClock } from "../src/process/follow-clock.ts";

const HOUR = 3_600_000;
/** Readings on a busy machine are as inexact as they take long. */
const TOLERANCE_MS = 2_000;
const EVERY_MS = 50;

const setClock = (time: number): Promise<void> => adjustClock(() => Promise.resolve(time));

afterEach(() => setClock(Date.now()));

const difference = (): number => Math.abs(currentTime() - Date.now());

async function follow(url: string, warn: (fields: object, text?: string) => void): Promise<void> {
  const following = await followClock(url, { warn }, EVERY_MS);
  onTestFinished(() => following[Symbol.dispose]());
}

test("the clock of a process agrees with its database from the start, and again when it does not", async () => {
  await using database = await emptyDatabase();
  await setClock(Date.now() + HOUR);
  await follow(database.url, () => {});
  expect(difference()).toBeLessThan(TOLERANCE_MS);

  await setClock(Date.now() - HOUR);
  await expect.poll(difference).toBeLessThan(TOLERANCE_MS);
});

test("a process does not start without the time of its database", async () => {
  const { url } = await removedDatabase();
  await expect(follow(url, () => {})).rejects.toThrow("does not exist");
});

test("a process keeps its time while the database cannot be read, and says so", async () => {
  const warnings: (string | undefined)[] = [];
  const database = await emptyDatabase();
  await follow(database.url, (_, text) => warnings.push(text));
  await database[Symbol.asyncDispose]();
  await expect.poll(() => warnings).toContain("the clock of the database cannot be read");
  expect(difference()).toBeLessThan(TOLERANCE_MS);
});

async function removedDatabase(): Promise<{ readonly url: string }> {
  await using database = await emptyDatabase();
  return { url: database.url };
}
