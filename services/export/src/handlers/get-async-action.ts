import { notFound } from "@scrip/errors";
import type { AsyncActionService } from "@scrip/proto/scrip/export/v1/async_actions_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { asyncActionToProto } from "../mapping/async-action.ts";
import { findAsyncAction } from "../store/async-actions.ts";

export const getAsyncAction =
  (deps: Deps): Handler<typeof AsyncActionService.method.getAsyncAction> =>
  async ({ asyncActionId }, { project }) => {
    const action = await findAsyncAction(deps.db, project.id, asyncActionId);
    if (action === undefined) throw notFound("async_action", asyncActionId);
    return asyncActionToProto(action, deps.baseUrl);
  };
