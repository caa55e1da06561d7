import { newId, newRequestId } from "@scrip/ids";
import type { Call } from "@scrip/rpc";
import { expect } from "vitest";

import { startAction } from "../src/store/async-actions.ts";
import type { Exports } from "./deps.ts";
import { COUNT, type CountInput } from "./fixture/count-job.ts";

/** A server-side call in a new project. */
export const newCall = (overrides: Partial<Call> = {}): Call => ({
  project: { id: newId("proj"), timeZone: "UTC", caseSensitiveCodes: true },
  requestId: newRequestId(),
  deadline: Date.now() + 60_000,
  now: Date.now(),
  caller: { side: "server", id: "app_test" },
  ...overrides,
});

/** Starts an async action that counts, and returns its id. */
export async function startCount(
  { db }: Pick<Exports, "db">,
  call: Call,
  input: Partial<CountInput> = {},
): Promise<string> {
  const id = newId("aa");
  const complete = { to: 10, perSlice: 3, failing: [], ...input };
  await db.transaction((tx) =>
    startAction(tx, call, { id, type: COUNT, input: complete, total: complete.to }),
  );
  return id;
}

/** Waits until the status of an async action is this one. */
export async function reaches(
  { asyncActions }: Pick<Exports, "asyncActions">,
  call: Call,
  { asyncActionId, status }: { readonly asyncActionId: string; readonly status: number },
) {
  await expect
    .poll(async () => (await asyncActions.getAsyncAction({ asyncActionId }, call)).status)
    .toBe(status);
  return asyncActions.getAsyncAction({ asyncActionId }, call);
}
