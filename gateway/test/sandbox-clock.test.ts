import { afterAll, describe, expect, test } from "vitest";

import { callOf, createProject, management } from "./builders.ts";
import { startRecordingGateway } from "./deps.ts";

const gateway = await startRecordingGateway();
afterAll(() => gateway[Symbol.asyncDispose]());

describe("SetClock", () => {
  test("sets the time of a sandbox project's calls until null returns them to real time", async () => {
    const { id, server } = await createProject(gateway, { name: "Sandbox", sandbox: true });
    const before = Date.now();
    expect((await callOf(gateway, server)).now).toBeGreaterThanOrEqual(before);
    const moved = await management(gateway, "PUT", `/projects/${id}/clock`, {
      now: "2030-02-28T12:00:00+01:00",
    });
    expect(moved).toMatchObject({ status: 200, json: { now: "2030-02-28T11:00:00.000Z" } });
    expect((await callOf(gateway, server)).now).toBe(Date.parse("2030-02-28T11:00:00Z"));
    const back = await management(gateway, "PUT", `/projects/${id}/clock`, { now: null });
    expect(back).toMatchObject({ status: 200, json: { now: null } });
    expect((await callOf(gateway, server)).now).toBeLessThan(Date.now() + 10_000);
  });

  test("rejects projects that are no sandbox", async () => {
    const { id } = await createProject(gateway, { name: "Real" });
    const body = { now: "2030-01-01T00:00:00Z" };
    expect(await management(gateway, "PUT", `/projects/${id}/clock`, body)).toMatchObject({
      status: 403,
      json: { key: "forbidden" },
    });
    expect(await management(gateway, "PUT", "/projects/proj_none/clock", body)).toMatchObject({
      status: 404,
    });
    const sandbox = await createProject(gateway, { name: "s", sandbox: true });
    for (const wrong of [{}, { now: "tomorrow" }]) {
      const response = await management(gateway, "PUT", `/projects/${sandbox.id}/clock`, wrong);
      expect(response).toMatchObject({ status: 400, json: { key: "invalid_payload" } });
    }
  });
});
