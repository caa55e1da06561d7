import { create } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import {
  type AsyncActionService,
  ListAsyncActionsResponseSchema,
} from "@scrip/proto/scrip/export/v1/async_actions_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { asyncActionToProto } from "../mapping/async-action.ts";
import { listAsyncActions as list } from "../store/async-actions.ts";

const DEFAULT_LIMIT = 10n;

export const listAsyncActions =
  (deps: Deps): Handler<typeof AsyncActionService.method.listAsyncActions> =>
  async ({ limit = DEFAULT_LIMIT, endDate, createdAt }, { project }) => {
    const { actions, hasMore } = await list(deps.db, {
      projectId: project.id,
      before: endDate && timestampDate(endDate),
      createdAt,
      limit: Number(limit),
    });
    return create(ListAsyncActionsResponseSchema, {
      asyncActions: actions.map((action) => asyncActionToProto(action, deps.baseUrl)),
      hasMore,
    });
  };
