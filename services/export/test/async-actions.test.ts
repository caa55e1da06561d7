import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { AsyncActionStatus } from "@scrip/proto/scrip/export/v1/async_actions_pb";
import { afterAll, expect, test } from "vitest";

import { newCall, startCount } from "./builders.ts";
import { startExports } from "./deps.ts";

const parts = new AsyncDisposableStack();
afterAll(() => parts.disposeAsync());
const exports = parts.use(await startExports());
const { asyncActions } = exports;

test("GetAsyncAction returns an async action of the project before it ends", async () => {
  const call = newCall();
  const asyncActionId = await startCount(exports, call);
  const action = await asyncActions.getAsyncAction({ asyncActionId }, call);
  expect(action).toMatchObject({
    id: asyncActionId,
    type: "TEST.COUNT",
    status: AsyncActionStatus.ENQUEUED,
    requestId: call.requestId,
    progress: 0n,
    total: 10n,
  });
  expect(action.result).toBeUndefined();
  for (const [id, caller] of [
    [asyncActionId, newCall()],
    ["aa_unknown", call],
  ] as const) {
    await expect(asyncActions.getAsyncAction({ asyncActionId: id }, caller)).rejects.toMatchObject({
      key: "not_found",
    });
  }
});

test("ListAsyncActions pages by time, without dividing actions of one instant", async () => {
  const call = newCall();
  const at = (now: number) => startCount(exports, { ...call, now });
  const first = await at(1_000);
  const twins = [await at(2_000), await at(2_000)].toReversed();
  const last = await at(3_000);
  const list = async (limit: bigint, endDate?: number) => {
    const page = await asyncActions.listAsyncActions(
      { limit, ...(endDate !== undefined && { endDate: timestampFromMs(endDate) }) },
      call,
    );
    return { ids: page.asyncActions.map(({ id }) => id), hasMore: page.hasMore };
  };
  expect(await list(10n)).toEqual({ ids: [last, ...twins, first], hasMore: false });
  expect(await list(2n)).toEqual({ ids: [last, ...twins], hasMore: true });
  expect(await list(1n, 3_000)).toEqual({ ids: twins, hasMore: true });
  expect(await list(1n, 2_000)).toEqual({ ids: [first], hasMore: false });
  expect(await list(1n, 1_000)).toEqual({ ids: [], hasMore: false });
});
