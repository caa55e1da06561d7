import { create } from "@bufbuild/protobuf";
import { currentTime } from "@scrip/clock";
import { instantToProto } from "@scrip/mapping";
import {
  type AsyncAction as AsyncActionMessage,
  AsyncActionOperationStatus,
  AsyncActionSchema,
  AsyncActionStatus,
} from "@scrip/proto/scrip/export/v1/async_actions_pb";

import { progressOf } from "../domain/job.ts";
import type { AsyncAction } from "../store/async-actions.ts";

const OPERATION_STATUS = {
  ENQUEUED: AsyncActionOperationStatus.UNKNOWN,
  IN_PROGRESS: AsyncActionOperationStatus.UNKNOWN,
  DONE: AsyncActionOperationStatus.SUCCESS,
  FAILED: AsyncActionOperationStatus.FAILED,
};

export const asyncActionToProto = (action: AsyncAction, baseUrl: string): AsyncActionMessage =>
  create(AsyncActionSchema, {
    id: action.id,
    type: action.type,
    status: AsyncActionStatus[action.status],
    operationStatus: OPERATION_STATUS[action.status],
    ...(action.result !== null && {
      result: { ...action.result, ...reportOf(action, baseUrl) },
    }),
    createdAt: instantToProto(action.createdAt),
    updatedAt: instantToProto(action.updatedAt),
    requestId: action.requestId,
    processingTime: BigInt(action.processingMs),
    progress: BigInt(progressOf(action)),
    processed: action.processed,
    failed: action.failed,
    ...(action.total !== null && { total: action.total }),
  });

/** Bulk updates link to their report, and list their failures as `errors` too. */
function reportOf({ id, report, result }: AsyncAction, baseUrl: string) {
  if (report === null || result === null) return {};
  const { token, expiresAt } = report;
  const link = `${baseUrl}/v1/async-actions/${id}/report?token=${token}`;
  return {
    ...(result["failed"] !== undefined && { errors: result["failed"] }),
    reports: expiresAt > currentTime() ? [link] : [],
    reports_available_till: new Date(expiresAt).toISOString(),
  };
}
