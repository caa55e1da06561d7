import { connect } from "node:net";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { runBurst } from "../load/burst-client.ts";
import { heavyRequest, lightRequest } from "../load/overload-requests.ts";
import { COMPOSITIONS, type Stack, startSingleProcesses } from "../stack/stack.ts";

const REQUESTS = 400;
/** The default of SCRIP_MAX_CONCURRENT_WORK. */
const MOST_WORK = 128;

/** Repeats the work until the promise is settled, and returns all results. */
async function during<Result>(
  promise: Promise<unknown>,
  work: () => Promise<Result>,
): Promise<readonly Result[]> {
  let isOver = false;
  const over = promise.finally(() => {
    isOver = true;
  });
  const results: Result[] = [];
  do results.push(await work());
  while (!isOver);
  await over;
  return results;
}

async function admissionMetrics(url: string): Promise<Readonly<Record<string, number>>> {
  const response = await fetch(url);
  const lines = (await response.text()).split("\n").filter((line) => line.startsWith("admission_"));
  return Object.fromEntries(
    lines.map((line) => [line.split(/[ {]/)[0] ?? "", Number(line.split(" ").at(-1))]),
  );
}

describe.each(COMPOSITIONS)("overload (%s)", (composition) => {
  let stack: Stack;
  let heavy: string;
  let light: string;
  beforeAll(async () => {
    stack = await startSingleProcesses(composition, ["--max-old-space-size=1024"]);
    heavy = await heavyRequest(stack, { redeemables: 30, lines: 500 });
    light = await lightRequest(stack);
  });
  afterAll(() => stack[Symbol.asyncDispose]());

  const port = (): number => Number(new URL(stack.url).port);

  const send = (request: string, connections = 1, isConnected = false) =>
    runBurst({ port: port(), connections, request, seconds: 0, isPolite: true, isConnected });

  /** Of the process that serves HTTP. */
  const readMetrics = () =>
    admissionMetrics(stack.metrics["scrip"] ?? stack.metrics["gateway"] ?? "");

  /** How many requests the processes have rejected so far, by reason. */
  async function rejections(): Promise<Readonly<Record<string, number>>> {
    const texts = await Promise.all(
      Object.values(stack.metrics).map(async (url) => (await fetch(url)).text()),
    );
    const counts: Record<string, number> = {};
    for (const text of texts) {
      const lines = text.matchAll(/^admission_rejections_total\{.*reason="(\w+)".*\} (\d+)$/gm);
      for (const [, reason = "", count] of lines)
        counts[reason] = (counts[reason] ?? 0) + Number(count);
    }
    return counts;
  }

  test("hundreds of concurrent heavy requests of one project do not affect another project", async () => {
    const pids = stack.pids();
    // One of these waits, so that a slow process knows its throughput; as much as may run may always wait.
    expect((await send(heavy, 3)).statuses).toEqual({ 200: 3 });
    const attack = send(heavy, REQUESTS);
    const [lights, probes, metrics] = await Promise.all([
      during(attack, () => send(light)),
      during(attack, async () => (await fetch(`${stack.url}/livez`)).status),
      during(attack, readMetrics),
    ]);
    const { statuses } = await attack;
    const { 200: served = 0, 429: ofProject = 0, 503: ofProcess = 0, ...others } = statuses;
    expect(others).toEqual({});
    expect(served + ofProject + ofProcess).toBe(REQUESTS);
    expect(served).toBeGreaterThan(0);
    expect(ofProject).toBeGreaterThan(REQUESTS / 2);
    expect(new Set(lights.flatMap((each) => Object.keys(each.statuses)))).toEqual(new Set(["200"]));
    expect(new Set(probes)).toEqual(new Set([200]));
    const work = metrics.map((each) => each["admission_heavy_running"] ?? 0);
    expect(Math.max(...work)).toBeGreaterThan(0);
    expect(Math.max(...work)).toBeLessThanOrEqual(MOST_WORK);
    // Requests that would wait in vain are rejected before they wait; only a process that the burst slows down misjudges some.
    const { project = 0, wait = 0, ...otherReasons } = await rejections();
    expect(otherReasons).toEqual({});
    expect(project).toBeGreaterThan(REQUESTS / 2);
    expect(wait).toBeLessThanOrEqual(REQUESTS / 20);
    expect(stack.pids()).toEqual(pids);
    expect((await send(heavy)).statuses).toEqual({ 200: 1 });
  });

  test("hundreds of requests at once on open connections are served or rejected", async () => {
    const attack = send(heavy, REQUESTS, true);
    const lights = await during(attack, () => send(light));
    const { statuses } = await attack;
    const { 200: served = 0, 429: ofProject = 0, 503: ofProcess = 0, ...others } = statuses;
    expect(others).toEqual({});
    expect(served).toBeGreaterThan(0);
    expect(served + ofProject + ofProcess).toBe(REQUESTS);
    expect(new Set(lights.flatMap((each) => Object.keys(each.statuses)))).toEqual(new Set(["200"]));
  });

  test("clients that leave free their places, and those that do not receive are bounded", async () => {
    const sockets = Array.from({ length: 40 }, () => {
      const socket = connect({ port: port(), host: "127.0.0.1" });
      socket.on("error", () => {});
      socket.write(heavy, "latin1");
      return socket.pause();
    });
    // Some are served and do not receive; how many others wait or are rejected depends on how fast heavy requests have been.
    await expect
      .poll(async () => (await readMetrics())["admission_unsent_response_bytes"])
      .toBeGreaterThan(0);
    expect((await send(light)).statuses).toEqual({ 200: 1 });
    for (const socket of sockets) socket.destroy();
    await expect.poll(readMetrics).toMatchObject({
      admission_heavy_running: 0,
      admission_heavy_waiting: 0,
      admission_unsent_response_bytes: 0,
    });
  });
});
