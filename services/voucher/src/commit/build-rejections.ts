import { create, toBinary } from "@bufbuild/protobuf";
import { catalogue, type ErrorKey } from "@scrip/errors";
import type { Error as ErrorMessage } from "@scrip/proto/scrip/common/v1/error_pb";
import { RedemptionFailedSchema } from "@scrip/proto/scrip/events/v1/redemptions_pb";
import type { CommitOutcome } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";

import type { ConflictingPart } from "../domain/commit.ts";
import { REDEMPTIONS_TOPIC } from "../events/redemption-made.ts";
import type { RenderParts } from "./build-outcomes.ts";
import { rowOf } from "./build-rows.ts";
import { type Command, nowOf } from "./parse-command.ts";

/** The answer to a command whose voucher or campaign somebody else holds. */
export function heldBy(command: Command, part: number, parts: RenderParts): CommitOutcome {
  const { voucherId, tierId } = command.parts[part] ?? {};
  const name = voucherId ? `Voucher ${nameOf(command, part, parts)}` : `Promotion tier ${tierId}`;
  const details = `${name} is held by something else; try again`;
  return refusedBy(errorOf("service_unavailable", command.message.requestId, details));
}

export function goneBy(command: Command, part: number, parts: RenderParts): CommitOutcome {
  const name = nameOf(command, part, parts);
  return refusedBy({
    ...errorOf("not_found", command.message.requestId, `Cannot find voucher with id ${name}`),
    resourceId: name,
    resourceType: "voucher",
  });
}

/** What a part cannot be taken for: what it lacks, or the refusal that its guard came with. */
export function refusalOfPart(
  command: Command,
  lost: ConflictingPart,
  parts: RenderParts,
): ErrorMessage {
  if (lost.kind === "refused") {
    return errorOf(lost.key, command.message.requestId, nameOf(command, lost.part, parts));
  }
  const refusal = command.message.parts[lost.part]?.guards[lost.guard]?.rejection;
  if (refusal === undefined) throw new Error("a guard without its refusal");
  return refusal;
}

export const staleWithout = (
  command: Command,
  lost: readonly ConflictingPart[],
  parts: RenderParts,
): CommitOutcome =>
  outcomeOf({
    case: "stale",
    value: {
      $typeName: "scrip.voucher.v1.StaleDecision",
      conflicts: lost.map((one) => ({
        $typeName: "scrip.voucher.v1.ConflictingPart",
        part: one.part,
        error: refusalOfPart(command, one, parts),
        ...(one.kind === "refused" && one.left !== undefined && { remainingCredits: one.left }),
      })),
    },
  });

/**
 * Records a refusal as a failed redemption of this part. Nothing is recorded where there is none:
 * whoever guesses codes must not fill the books.
 */
export function recordFailure(
  command: Command,
  part: number,
  { error, parts }: { readonly error: ErrorMessage; readonly parts: RenderParts },
): CommitOutcome {
  const requestId = error.requestId === "" ? command.message.requestId : error.requestId;
  if (command.parts[part] === undefined) return refusedBy({ ...error, requestId });
  const id = parts.context.newId("rf");
  parts.draft.redemptions.push(
    rowOf(command, part, {
      id,
      parentId: null,
      amount: null,
      order: null,
      after: null,
      failure: { code: error.key, message: error.message },
    }),
  );
  announceFailure(command, part, { id, parts });
  // What was not found keeps its own name.
  if (error.key === "not_found") return refusedBy({ ...error, requestId });
  return refusedBy({ ...error, requestId, resourceId: id, resourceType: "redemption" });
}

/** Failures are counted by customer, and so those of nobody need not be told of. */
function announceFailure(
  command: Command,
  part: number,
  { id, parts: { draft, context } }: { readonly id: string; readonly parts: RenderParts },
): void {
  const { projectId, customerId } = command;
  if (customerId === null) return;
  const { voucherId = null, tierId = null, campaignId = null } = command.parts[part] ?? {};
  const event = create(RedemptionFailedSchema, {
    projectId,
    redemptionId: id,
    voucherId: voucherId ?? "",
    customerId,
    date: nowOf(command.message),
    ...(tierId !== null && { promotionTierId: tierId }),
    ...(campaignId !== null && { campaignId }),
  });
  draft.events.push({
    projectId,
    id: context.newId("event"),
    topic: REDEMPTIONS_TOPIC,
    type: RedemptionFailedSchema.typeName,
    key: voucherId ?? tierId ?? "",
    payload: toBinary(RedemptionFailedSchema, event),
  });
}

/** The code of the voucher of this part, or its id when nothing is known of it any more. */
function nameOf(command: Command, part: number, { context }: RenderParts): string {
  const voucherId = command.parts[part]?.voucherId ?? "";
  return context.templates.byId(command.projectId, voucherId)?.definition.code ?? voucherId;
}

export const errorOf = (
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

export const refusedBy = (error: ErrorMessage): CommitOutcome =>
  outcomeOf({ case: "rejected", value: error });

export const outcomeOf = (outcome: CommitOutcome["outcome"]): CommitOutcome => ({
  $typeName: "scrip.voucher.v1.CommitOutcome",
  outcome,
  replayed: false,
});

export const internalError = (requestId: string): CommitOutcome =>
  refusedBy(errorOf("internal_error", requestId, undefined));
