import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { catalogue, type Key } from "@scrip/errors";
import { CustomerSchema } from "@scrip/proto/scrip/common/v1/customer_pb";
import type { Error as ErrorMessage } from "@scrip/proto/scrip/common/v1/error_pb";
import type { Order } from "@scrip/proto/scrip/common/v1/order_pb";
import {
  type CommitOutcome,
  CommitOutcomeSchema,
  type Redemption,
  type RedemptionCommand,
  RedemptionResult,
  RedemptionStatus,
} from "@scrip/proto/scrip/voucher/v1/redemptions_pb";

import {
  type CommandDecision,
  type CommitCommand,
  isAnswer,
  rowKey,
  type VoucherUsage,
} from "../domain/commit.ts";
import { encodeOrder, encodeRedemptionMade, REDEMPTIONS_TOPIC } from "../events/published.ts";
import type {
  CommitWrites,
  LedgerEntry,
  NewAnswer,
  NewEvent,
  NewRedemption,
} from "../store/commits.ts";
import type { StoredAnswer } from "../store/idempotency.ts";
import { composeVoucher, type VoucherTemplate } from "./voucher-message.ts";

/** A command as decided on, and the message that it came in. */
export type Command = CommitCommand & {
  readonly message: RedemptionCommand;
  /** The project's present, in epoch milliseconds. */
  readonly at: number;
};

export type CommitContext = {
  readonly templates: { byId(projectId: string, voucherId: string): VoucherTemplate | undefined };
  readonly answers: ReadonlyMap<string, StoredAnswer>;
  readonly newId: (prefix: "r" | "rf" | "event") => string;
};

export type RenderedCommits = {
  /** One for each command, in their order. */
  readonly outcomes: readonly CommitOutcome[];
  readonly writes: CommitWrites;
};

type Draft = {
  readonly usages: Map<string, VoucherUsage>;
  readonly redemptions: NewRedemption[];
  readonly ledgerEntries: LedgerEntry[];
  readonly events: NewEvent[];
  readonly answers: NewAnswer[];
};

/** Turns decisions into what is answered and what is written. */
export function renderCommits(
  commands: readonly Command[],
  decisions: readonly CommandDecision[],
  context: CommitContext,
): RenderedCommits {
  const draft: Draft = {
    usages: new Map(),
    redemptions: [],
    ledgerEntries: [],
    events: [],
    answers: [],
  };
  const outcomes: CommitOutcome[] = [];
  for (const [position, command] of commands.entries()) {
    const decision = decisions[position];
    if (decision === undefined) throw new Error("a command was not decided");
    if (decision.kind === "replayed") {
      outcomes.push(replay(command, decision.position, { outcomes, context }));
      continue;
    }
    const outcome = renderDecision(command, decision, { draft, context });
    outcomes.push(outcome);
    const keeps = isAnswer(decision) && decision.kind !== "key_reused";
    if (keeps && command.idempotency !== null) {
      draft.answers.push({
        projectId: command.projectId,
        ...command.idempotency,
        outcome: toBinary(CommitOutcomeSchema, outcome),
      });
    }
  }
  return { outcomes, writes: { ...draft, usages: [...draft.usages.values()] } };
}

function replay(
  command: Command,
  position: number | null,
  { outcomes, context }: { outcomes: readonly CommitOutcome[]; context: CommitContext },
): CommitOutcome {
  if (position !== null) {
    const first = outcomes[position];
    if (first === undefined) throw new Error("a replay comes before its first answer");
    return { ...first, replayed: true };
  }
  const key = rowKey(command.projectId, command.idempotency?.key ?? "");
  const stored = context.answers.get(key);
  if (stored === undefined) throw new Error("a replay without its stored answer");
  return readAnswer(stored);
}

/** The stored answer, marked as a repeat. */
export const readAnswer = (answer: StoredAnswer): CommitOutcome => ({
  ...fromBinary(CommitOutcomeSchema, answer.outcome),
  replayed: true,
});

type Parts = { readonly draft: Draft; readonly context: CommitContext };

function renderDecision(
  command: Command,
  decision: Exclude<CommandDecision, { kind: "replayed" }>,
  parts: Parts,
): CommitOutcome {
  switch (decision.kind) {
    case "made":
      return renderMade(command, decision.usages, parts);
    case "stale":
      return outcomeOf({ case: "stale", value: { $typeName: "scrip.voucher.v1.Stale" } });
    case "held": {
      const name = nameOf(command, decision.take, parts);
      const details = `Voucher ${name} is held by something else; try again`;
      return refusedBy(errorOf("service_unavailable", command, details));
    }
    case "gone": {
      const name = nameOf(command, decision.take, parts);
      return refusedBy({
        ...errorOf("not_found", command, `Cannot find voucher with id ${name}`),
        resourceId: name,
        resourceType: "voucher",
      });
    }
    case "key_reused":
      return refusedBy(errorOf("idempotency_key_reused", command, undefined));
    case "refused": {
      const error = errorOf(decision.key, command, nameOf(command, decision.take, parts));
      return recordFailure(command, decision.take, { error, parts });
    }
    case "recorded": {
      const error = command.message.refused;
      if (error === undefined) throw new Error("a refusal without its error");
      return recordFailure(command, 0, { error, parts });
    }
    default:
      return decision satisfies never;
  }
}

function renderMade(
  command: Command,
  usages: readonly VoucherUsage[],
  { draft, context }: Parts,
): CommitOutcome {
  const redemptions = usages.map((usage, position) => {
    const id = context.newId("r");
    const { voucherId, projectId } = usage;
    const credits = usage.amount === null ? null : (command.takes[position]?.credits ?? 0n);
    const template = context.templates.byId(projectId, voucherId);
    if (template?.definition.version !== usage.definitionVersion) {
      throw new Error(`the definition of voucher ${voucherId} was not loaded`);
    }
    const order = orderOf(command, position, { id, campaignId: template.definition.campaignId });
    const orderBytes = order === undefined ? null : encodeOrder(order);
    draft.usages.set(rowKey(projectId, voucherId), usage);
    draft.redemptions.push({
      ...rowOf(command, { id, voucherId }),
      status: "SUCCEEDED",
      amount: credits,
      order: orderBytes,
      after: usage,
      failure: null,
    });
    draft.events.push(eventOf(command, { id, template, credits, orderBytes, context }));
    if (credits !== null && credits > 0n) {
      draft.ledgerEntries.push({
        projectId,
        voucherId,
        version: usage.ledgerVersion,
        amount: -credits,
        balanceAfter: usage.balance ?? 0n,
        redemptionId: id,
        createdAt: command.at,
      });
    }
    return toRedemption(command, { id, usage, template, credits, order });
  });
  return outcomeOf({
    case: "made",
    value: {
      $typeName: "scrip.voucher.v1.RedemptionsMade",
      redemptions,
      note: command.message.note,
    },
  });
}

/** The order that this voucher left, with the entry that names the redemption. */
function orderOf(
  { message }: Command,
  position: number,
  { id, campaignId }: { readonly id: string; readonly campaignId: string | null },
): Order | undefined {
  const part = message.parts[position];
  const order = part?.order ?? message.order;
  if (order === undefined || part?.redeemable.case !== "voucherId") return undefined;
  return {
    ...order,
    redemptions: {
      ...order.redemptions,
      [id]: {
        $typeName: "scrip.common.v1.OrderRedemption",
        date: message.now,
        relatedObjectType: "voucher",
        relatedObjectId: part.redeemable.value,
        relatedObjectParentId: campaignId ?? undefined,
        stacked: [],
        rollbackStacked: [],
      },
    },
  };
}

function eventOf(
  { message, projectId }: Command,
  made: {
    readonly id: string;
    readonly template: VoucherTemplate;
    readonly credits: bigint | null;
    readonly orderBytes: Uint8Array | null;
    readonly context: CommitContext;
  },
): NewEvent {
  const { id: voucherId, campaignId } = made.template.definition;
  return {
    projectId,
    id: made.context.newId("event"),
    topic: REDEMPTIONS_TOPIC,
    key: voucherId,
    payload: encodeRedemptionMade({
      projectId,
      redemptionId: made.id,
      voucherId,
      campaignId,
      customerId: message.customerId ?? null,
      date: nowOf(message),
      amount: made.credits,
      order: made.orderBytes,
    }),
  };
}

function toRedemption(
  { message }: Command,
  made: {
    readonly id: string;
    readonly usage: VoucherUsage;
    readonly template: VoucherTemplate;
    readonly credits: bigint | null;
    readonly order: Order | undefined;
  },
): Redemption {
  const { credits } = made;
  return {
    $typeName: "scrip.voucher.v1.Redemption",
    id: made.id,
    date: message.now,
    customerId: message.customerId,
    trackingId: message.trackingId,
    metadata: message.metadata,
    amount: credits ?? undefined,
    result: RedemptionResult.SUCCESS,
    status: RedemptionStatus.SUCCEEDED,
    order: made.order,
    channel: message.channel,
    customer: message.customer,
    relatedObjectType: "voucher",
    relatedObjectId: made.usage.voucherId,
    voucher: composeVoucher(made.template, made.usage),
    gift:
      credits === null
        ? undefined
        : { $typeName: "scrip.voucher.v1.RedemptionGift", amount: credits },
  };
}

/**
 * Records a refusal as a failed redemption of the voucher of this take. Nothing is recorded where no
 * voucher is known: whoever guesses codes must not fill the books.
 */
function recordFailure(
  command: Command,
  take: number,
  { error, parts }: { readonly error: ErrorMessage; readonly parts: Parts },
): CommitOutcome {
  const requestId = error.requestId === "" ? command.message.requestId : error.requestId;
  const voucherId = command.takes[take]?.voucherId;
  if (voucherId === undefined) return refusedBy({ ...error, requestId });
  const id = parts.context.newId("rf");
  parts.draft.redemptions.push({
    ...rowOf(command, { id, voucherId }),
    status: "FAILED",
    amount: null,
    order: null,
    after: null,
    failure: { code: error.key, message: error.message },
  });
  // What was not found keeps its own name.
  if (error.key === "not_found") return refusedBy({ ...error, requestId });
  return refusedBy({ ...error, requestId, resourceId: id, resourceType: "redemption" });
}

function rowOf(
  { message, projectId, at }: Command,
  { id, voucherId }: { readonly id: string; readonly voucherId: string },
) {
  return {
    projectId,
    id,
    voucherId,
    createdAt: at,
    customerId: message.customerId ?? null,
    trackingId: message.trackingId ?? null,
    metadata: message.metadata === undefined ? null : JSON.stringify(message.metadata),
    channelId: message.channel?.channelId ?? "",
    channelType: message.channel?.channelType ?? "API",
    customer: message.customer === undefined ? null : toBinary(CustomerSchema, message.customer),
    requestId: message.requestId,
  };
}

/** The code of the voucher of this take, or its id when nothing is known of it any more. */
function nameOf(command: Command, take: number, { context }: Parts): string {
  const voucherId = command.takes[take]?.voucherId ?? "";
  return context.templates.byId(command.projectId, voucherId)?.definition.code ?? voucherId;
}

const errorOf = (key: Key, { message }: Command, details: string | undefined): ErrorMessage => ({
  $typeName: "scrip.common.v1.Error",
  code: catalogue[key].http,
  key,
  message: catalogue[key].message,
  details,
  requestId: message.requestId,
});

const refusedBy = (error: ErrorMessage): CommitOutcome =>
  outcomeOf({ case: "refused", value: error });

const outcomeOf = (outcome: CommitOutcome["outcome"]): CommitOutcome => ({
  $typeName: "scrip.voucher.v1.CommitOutcome",
  outcome,
  replayed: false,
});

export function nowOf({ now }: RedemptionCommand): NonNullable<RedemptionCommand["now"]> {
  if (now === undefined) throw new Error("a command without its present");
  return now;
}
