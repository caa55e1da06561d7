import { ApiError, notFound } from "@scrip/errors";
import { enqueue, type Origin } from "@scrip/events";
import type { Queryable } from "@scrip/postgres";
import type { EventVoucher } from "@scrip/proto/scrip/loyalty/v1/custom_events_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { availablePoints, type Card, totalPoints } from "../domain/card.ts";
import { expiryDate } from "../domain/expiry-date.ts";
import { keyOf } from "../domain/key.ts";
import { localDateAt, type LocalDate } from "../domain/local-date.ts";
import { remainingCapacityOf } from "../domain/move-points.ts";
import {
  pendingPointsChangedEvent,
  type PendingPointsChange,
} from "../events/pending-points-changed.ts";
import { lockCards, saveCards } from "../store/cards.ts";
import { findProjectEarningRules } from "../store/earning-rules.ts";
import { findPrograms } from "../store/loyalty-programs.ts";
import {
  findPendingPoints,
  type PendingPoints,
  updatePendingPoints,
} from "../store/pending-points.ts";
import { movePoints } from "./move-points.ts";

type PendingRequest = {
  readonly memberId: string;
  readonly pendingPointsId: string;
  readonly voucher?: EventVoucher | undefined;
};

/** A pending entry with its card, both locked. */
type LockedPending = { readonly entry: PendingPoints; readonly card: Card };

/** What can be done with pending entries only, as errors say it. */
type Purpose = "updated" | "activated" | "canceled";

/** The id of the card of a request; other vouchers have no points. */
export function requireCardId({
  memberId,
  voucher,
}: Pick<PendingRequest, "memberId" | "voucher">): string {
  if (voucher === undefined || !voucher.isLoyaltyCard) throw notFound("voucher", memberId);
  return voucher.id;
}

async function lockPending(
  tx: Queryable,
  request: PendingRequest,
  { projectId, purpose }: { readonly projectId: string; readonly purpose: Purpose },
): Promise<LockedPending> {
  const cardId = requireCardId(request);
  const cards = await lockCards(tx, [{ projectId, cardId }]);
  // After the lock of the card, which orders all changes of its entries.
  const entry = await findPendingPoints(tx, projectId, request.pendingPointsId);
  const card = cards.get(keyOf(projectId, cardId));
  if (card === undefined || entry?.cardId !== cardId) {
    throw notFound("pending_points", request.pendingPointsId);
  }
  if (entry.status !== "PENDING") {
    throw new ApiError("invalid_pending_points_state", {
      details: `Only pending points in 'PENDING' status can be ${purpose}. Current status: '${entry.status}'.`,
    });
  }
  return { entry, card };
}

/** A change, and the request that caused it. */
type CausedChange = PendingPointsChange & { readonly origin: Origin | undefined };

/** The change that ends an entry: its points are no longer pending. */
const endOf = (
  entry: PendingPoints,
  status: "ACTIVATED" | "CANCELED",
  about: Pick<CausedChange, "at" | "origin">,
): CausedChange => ({
  ...about,
  entry: { ...entry, status },
  change: status,
  points: -entry.points,
});

/** Stores and publishes changes of entries, whose cards are locked. */
async function saveChanges(
  tx: Queryable,
  { newId }: Pick<Deps, "newId">,
  changes: readonly CausedChange[],
): Promise<void> {
  await updatePendingPoints(tx, changes);
  const events = changes.map(({ origin, ...change }) => ({
    ...pendingPointsChangedEvent(newId("event"), change),
    origin,
  }));
  await enqueue(tx, events, undefined);
}

/** Adds points to an entry or takes them; returns the pending points of the card. */
export const adjustPending = (
  deps: Deps,
  request: PendingRequest & { readonly points: bigint },
  call: Call,
): Promise<bigint> =>
  deps.db.transaction(async (tx) => {
    const { project, now } = call;
    const purpose = "updated";
    const { entry, card } = await lockPending(tx, request, { projectId: project.id, purpose });
    const points = entry.points + request.points;
    if (request.points === 0n || points <= 0n) {
      throw new ApiError("invalid_amount", { details: "Amount has to be a valid positive number" });
    }
    if (request.points > remainingCapacityOf(card)) throw tooManyPoints(remainingCapacityOf(card));
    const after = { ...entry, points };
    const pendingPoints = card.pendingPoints + request.points;
    await saveCards(tx, [{ ...card, pendingPoints }]);
    const change = { entry: after, change: "UPDATED", points: request.points, at: now } as const;
    await saveChanges(tx, deps, [{ ...change, origin: call }]);
    return pendingPoints;
  });

/** Takes an entry off the card; its points are never credited. */
export const cancelPending = (deps: Deps, request: PendingRequest, call: Call): Promise<void> =>
  deps.db.transaction(async (tx) => {
    const { project, now } = call;
    const purpose = "canceled";
    const { entry, card } = await lockPending(tx, request, { projectId: project.id, purpose });
    await cancelEntries(tx, deps, [{ entry, at: now, origin: call }], [card]);
  });

/** The cancellation of an entry, and the request that caused it. */
export type CanceledEntry = {
  readonly entry: PendingPoints;
  readonly at: number;
  readonly origin: Origin | undefined;
};

/** Takes entries off their cards, which are locked. */
export async function cancelEntries(
  tx: Queryable,
  deps: Pick<Deps, "newId">,
  canceled: readonly CanceledEntry[],
  cards: readonly Card[],
): Promise<void> {
  const ofCard = Map.groupBy(canceled, ({ entry }) => keyOf(entry.projectId, entry.cardId));
  await saveCards(
    tx,
    cards.map((card) => {
      const own = ofCard.get(keyOf(card.projectId, card.id)) ?? [];
      const points = own.reduce((sum, { entry }) => sum + entry.points, 0n);
      return { ...card, pendingPoints: card.pendingPoints - points };
    }),
  );
  const ends = canceled.map(({ entry, ...about }) => endOf(entry, "CANCELED", about));
  await saveChanges(tx, deps, ends);
}

export type Activation = {
  readonly points: bigint;
  readonly total: bigint;
  readonly balance: bigint;
};

const tooManyPoints = (limit: bigint): ApiError =>
  new ApiError("invalid_amount", { details: `Only ${limit} points can be added` });

/** Credits an entry to its card on request. */
export const activatePending = (
  deps: Deps,
  request: PendingRequest,
  call: Call,
): Promise<Activation> =>
  deps.db.transaction(async (tx) => {
    const { project, now } = call;
    const purpose = "activated";
    const { entry } = await lockPending(tx, request, { projectId: project.id, purpose });
    const [card] = await activateEntries(tx, deps, [entry], {
      at: now,
      today: localDateAt(project.timeZone, now),
      source: null,
      origin: call,
    });
    if (card === undefined) throw new Error("an activated entry has a card");
    return { points: entry.points, total: totalPoints(card), balance: availablePoints(card) };
  });

/**
 * Credits pending entries of one project in the caller's transaction, with points that expire as if they had been earned
 * on the day of the activation: by the earning rule, else by the program. Returns the cards in the order of the entries.
 * The cards must be locked.
 */
export async function activateEntries(
  tx: Queryable,
  deps: Pick<Deps, "newId">,
  entries: readonly PendingPoints[],
  {
    at,
    today,
    expiredBefore = today,
    source,
    origin,
  }: {
    readonly at: number;
    readonly today: LocalDate;
    /** Points of the cards that expired before this date are deducted first. */
    readonly expiredBefore?: LocalDate;
    readonly source: "Automation" | null;
    readonly origin: Origin;
  },
): Promise<readonly Card[]> {
  const projectIds = [...new Set(entries.map(({ projectId }) => projectId))];
  const [programs, rules] = await Promise.all([
    findPrograms(tx, entries),
    findProjectEarningRules(tx, projectIds),
  ]);
  const expiresOn = ({ projectId, campaignId, ruleId }: PendingPoints) => {
    const rule = rules.get(projectId)?.find(({ id }) => id === ruleId);
    const program = programs.get(keyOf(projectId, campaignId));
    return expiryDate(rule?.expirationRules ?? program?.expirationRules ?? null, today);
  };
  const decisions = await movePoints(
    tx,
    deps,
    entries.map((entry) => ({
      // The card is open: it has pending points.
      card: { projectId: entry.projectId, cardId: entry.cardId, initialPoints: 0n },
      type: "PENDING_POINTS_ACTIVATION" as const,
      points: entry.points,
      pendingPoints: -entry.points,
      expiresOn: expiresOn(entry),
      cause: entry.id,
      at,
      expiredBefore,
      source,
      origin,
      details: JSON.stringify({ ...entry.details, pending_points: activatedEntry(entry) }),
    })),
  );
  for (const decision of decisions) {
    if (decision.kind !== "rejected") continue;
    throw tooManyPoints(decision.limit);
  }
  const activated = entries.map((entry) => endOf(entry, "ACTIVATED", { at, origin }));
  await saveChanges(tx, deps, activated);
  return decisions.flatMap((decision) => (decision.kind === "moved" ? [decision.card] : []));
}

/** The entry in the details of its activation, as pending points list it; the holder is that of the card. */
const activatedEntry = (entry: PendingPoints) => ({
  id: entry.id,
  voucher_id: entry.cardId,
  campaign_id: entry.campaignId,
  order_id: entry.orderId,
  points: Number(entry.points),
  activates_at: entry.activatesOn,
  details: entry.details,
  created_at: new Date(entry.createdAt).toISOString(),
});
