import { create, toBinary } from "@bufbuild/protobuf";
import { catalogue, type ErrorKey } from "@scrip/errors";
import type { Error as ErrorMessage } from "@scrip/proto/scrip/common/v1/error_pb";
import { RedemptionFailedSchema } from "@scrip/proto/scrip/events/v1/redemptions_pb";
import type { CommitOutcome } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";

import type { ConflictingPart } from "../domain/commit.ts";
import { REDEMPTIONS_TOPIC } from "../events/redemption-made.ts";
import { originFromProto } from "../mapping/origin.ts";
import { redemptionToRow } from "./build-rows.ts";
import type { CommitBuild } from "./draft.ts";
import { type Command, requireNow } from "./parse-command.ts";

/** The outcome of a command whose voucher, campaign or tier is locked by another transaction. */
export function lockedOutcome(command: Command, part: number, build: CommitBuild): CommitOutcome {
  const { voucherId, tierId } = command.parts[part] ?? {};
  const name = voucherId ? `Voucher ${nameOf(command, part, build)}` : `Promotion tier ${tierId}`;
  const details = `${name} is locked by another request; try again`;
  return rejectedOutcome(buildError("service_unavailable", command.message.requestId, details));
}

export function deletedOutcome(command: Command, part: number, build: CommitBuild): CommitOutcome {
  const name = nameOf(command, part, build);
  return rejectedOutcome({
    ...buildError("not_found", command.message.requestId, `Cannot find voucher with id ${name}`),
    resourceId: name,
    resourceType: "voucher",
  });
}

/** Why a part cannot be redeemed: a shortage of its voucher, or the rejection that its guard carries. */
export function partRejection(
  command: Command,
  conflict: ConflictingPart,
  build: CommitBuild,
): ErrorMessage {
  if (conflict.kind === "rejected") {
    return buildError(
      conflict.key,
      command.message.requestId,
      nameOf(command, conflict.part, build),
    );
  }
  const rejection = command.message.parts[conflict.part]?.guards[conflict.guard]?.rejection;
  if (rejection === undefined) throw new Error("a guard has no rejection");
  return rejection;
}

export const staleOutcome = (
  command: Command,
  conflicts: readonly ConflictingPart[],
  build: CommitBuild,
): CommitOutcome =>
  commitOutcome({
    case: "stale",
    value: {
      $typeName: "scrip.voucher.v1.StaleDecision",
      conflicts: conflicts.map((one) => ({
        $typeName: "scrip.voucher.v1.ConflictingPart",
        part: one.part,
        error: partRejection(command, one, build),
        ...(one.kind === "rejected" &&
          one.remaining !== undefined && { remainingCredits: one.remaining }),
      })),
    },
  });

/**
 * Records a rejection as a failed redemption of this part. Nothing is recorded for codes that do not exist,
 * so that guessing codes writes no rows.
 */
export function recordFailedRedemption(
  command: Command,
  part: number,
  { error, build }: { readonly error: ErrorMessage; readonly build: CommitBuild },
): CommitOutcome {
  const requestId = error.requestId === "" ? command.message.requestId : error.requestId;
  if (command.parts[part] === undefined) return rejectedOutcome({ ...error, requestId });
  const id = build.context.newId("rf");
  build.draft.redemptions.push(
    redemptionToRow(command, part, {
      id,
      parentId: null,
      amount: null,
      order: null,
      after: null,
      failure: { code: error.key, message: error.message },
    }),
  );
  addFailedEvent(command, part, { id, build });
  // The error already names the resource that was not found.
  if (error.key === "not_found") return rejectedOutcome({ ...error, requestId });
  return rejectedOutcome({ ...error, requestId, resourceId: id, resourceType: "redemption" });
}

/** Services count failures by customer; those without one interest webhooks only. */
function addFailedEvent(
  command: Command,
  part: number,
  { id, build: { draft, context } }: { readonly id: string; readonly build: CommitBuild },
): void {
  const { projectId, customerId } = command;
  const origin = originFromProto(command.message);
  if (customerId === null && command.message.caller?.hasWebhooks !== true) return;
  const { voucherId = null, tierId = null, campaignId = null } = command.parts[part] ?? {};
  const event = create(RedemptionFailedSchema, {
    projectId,
    redemptionId: id,
    voucherId: voucherId ?? "",
    date: requireNow(command.message),
    ...(customerId !== null && { customerId }),
    ...(tierId !== null && { promotionTierId: tierId }),
    ...(campaignId !== null && { campaignId }),
  });
  draft.events.push({
    projectId,
    id: context.newId("event"),
    topic: REDEMPTIONS_TOPIC,
    type: RedemptionFailedSchema.typeName,
    key: voucherId ?? tierId ?? "",
    traceparent: command.message.traceparent,
    origin,
    payload: toBinary(RedemptionFailedSchema, event),
  });
}

/** The code of the part's voucher, or its id when its definition is no longer cached. */
function nameOf(command: Command, part: number, { context }: CommitBuild): string {
  const voucherId = command.parts[part]?.voucherId ?? "";
  return context.definitions.byId(command.projectId, voucherId)?.definition.code ?? voucherId;
}

export const buildError = (
  key: ErrorKey,
  requestId: string,
  details: string | undefined,
): ErrorMessage => ({
  $typeName: "scrip.common.v1.Error",
  relatedObjectIds: [],
  code: catalogue[key].http,
  key,
  message: catalogue[key].message,
  details,
  requestId,
});

export const rejectedOutcome = (error: ErrorMessage): CommitOutcome =>
  commitOutcome({ case: "rejected", value: error });

export const commitOutcome = (outcome: CommitOutcome["outcome"]): CommitOutcome => ({
  $typeName: "scrip.voucher.v1.CommitOutcome",
  outcome,
  replayed: false,
});

export const internalErrorOutcome = (requestId: string): CommitOutcome =>
  rejectedOutcome(buildError("internal_error", requestId, undefined));

/** The amounts of the redemption would exceed what a total of the campaign or tier can store. */
export const totalsExceededOutcome = (requestId: string): CommitOutcome =>
  rejectedOutcome(
    buildError(
      "invalid_order",
      requestId,
      "The amounts are too large for the totals of the campaign or promotion tier",
    ),
  );
