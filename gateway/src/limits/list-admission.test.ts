import { expect, test } from "vitest";

import { createListAdmission, type StartedList } from "./list-admission.ts";

const LIST = "proj_1 /v1/vouchers";

/** 10 objects, each with a unit of work per KB. */
const workOf = (objectBytes: number): number => (objectBytes / 1_000) * 10;

function open() {
  const lists = createListAdmission();
  const admitted: number[] = [];
  const started: StartedList[] = [];
  const start = async (list = LIST): Promise<StartedList> => {
    const one = await lists.start(list, workOf, (work) => void admitted.push(work));
    started.push(one);
    return one;
  };
  return { lists, start, started, admitted };
}

test("starts four light requests for a list, and the others when these end", async () => {
  const { start, started } = open();
  const all = Array.from({ length: 6 }, () => start());
  await settled();
  expect(started).toHaveLength(4);
  // Another list, and the same list of another project.
  await Promise.all([start("proj_1 /v1/orders"), start("proj_2 /v1/vouchers")]);
  started[0]?.end();
  started[0]?.end();
  await settled();
  expect(started).toHaveLength(7);
  started[1]?.end();
  await Promise.all(all);
});

test("admits waiting requests by the size that earlier responses had", async () => {
  const { start, started, admitted } = open();
  const all = Array.from({ length: 6 }, () => start());
  await settled();
  started[0]?.measured({ objects: 10, bytes: 10 * 200_000 });
  started[0]?.end();
  // Heavy requests take no place of the light ones.
  await Promise.all(all);
  expect(admitted).toEqual([0, 0, 0, 0, 2_000, 2_000]);
  expect((await start()).work).toBe(2_000);
});

test("frees the place of a request that is rejected", async () => {
  const lists = createListAdmission();
  const rejectBusy = (): never => {
    throw new Error("busy");
  };
  for (let i = 0; i < 10; i += 1) {
    await expect(lists.start(LIST, workOf, rejectBusy)).rejects.toThrow("busy");
  }
});

test("sees larger objects immediately, and forgets them slowly", async () => {
  const { start } = open();
  const measure = async (bytes: number): Promise<number> => {
    const list = await start();
    list.measured({ objects: 10, bytes: bytes * 10 });
    list.end();
    const next = await start();
    next.end();
    return next.work / 10;
  };
  expect(await measure(100)).toBe(0.1);
  expect(await measure(200_000)).toBe(200);
  expect(await measure(100)).toBe(180);
  for (let page = 0; page < 100; page += 1) await measure(100);
  expect(await measure(100)).toBe(0.1);
});

test("measures an empty page", async () => {
  const { start } = open();
  const list = await start();
  list.measured({ objects: 0, bytes: 50 });
  list.end();
  expect((await start()).work).toBe(0.5);
});

const settled = () => new Promise((resolve) => setImmediate(resolve));
