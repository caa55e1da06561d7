import { keyedHandlers } from "@scrip/idempotency";
import { AsyncActionService } from "@scrip/proto/scrip/export/v1/async_actions_pb";
import type { Implementation } from "@scrip/rpc";

import { bindToRequest, type Deps } from "./deps.ts";
import { getAsyncAction } from "./handlers/get-async-action.ts";
import { listAsyncActions } from "./handlers/list-async-actions.ts";

/** The RPCs of this service. */
export const routes = (deps: Deps): readonly Implementation[] => {
  const implement = keyedHandlers(deps, bindToRequest);
  return [implement(AsyncActionService, { listAsyncActions, getAsyncAction })];
};
