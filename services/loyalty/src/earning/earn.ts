import { enqueue, type EventEnvelope, type Origin, originOf } from "@scrip/events";
import type { Queryable } from "@scrip/postgres";

import type { Deps } from "../deps.ts";
import { isTriggeredBy } from "../domain/earning/earning-rule.ts";
import { decideGrants, type EarningTrigger, type Grant } from "../domain/earning/grants.ts";
import { keyOf } from "../domain/key.ts";
import type { LoyaltyProgram } from "../domain/loyalty-program.ts";
import { cardRequestedEvent } from "../events/card-requested.ts";
import type { ProjectEarning } from "../loading/earning-definitions.ts";
import { grantDetails, pendingDetails } from "../mapping/grant-details.ts";
import { withoutCanceledOrders } from "../points/cancel-orders.ts";
import { movePointsOf } from "../points/move-points.ts";
import { addPendingPoints } from "../points/pending-points.ts";
import { insertAwaitedCards } from "../store/awaited-cards.ts";
import { openAndLockCards } from "../store/cards.ts";
import { lockCustomers } from "../store/customers.ts";
import { findPendingCauses } from "../store/pending-points.ts";
import { loadStates } from "./load-state.ts";

/** An event that may earn points, as it was delivered. */
export type EarningEvent = { readonly trigger: EarningTrigger; readonly event: EventEnvelope };

type MissingCard = { readonly item: EarningEvent; readonly program: LoyaltyProgram };

/** The earning rules of projects, by project id. */
export type Definitions = ReadonlyMap<string, ProjectEarning>;

/**
 * Earns the points of a batch of events in the caller's transaction (docs/earning.md#accrual). A rule grants points to a
 * card once for an order or custom event. An accrual of a customer without a card waits for the card.
 */
export async function earn(
  tx: Queryable,
  deps: Deps,
  {
    items,
    definitions,
  }: { readonly items: readonly EarningEvent[]; readonly definitions: Definitions },
): Promise<void> {
  const rulesOf = ({ trigger }: EarningEvent) =>
    (definitions.get(trigger.projectId)?.rules.get(trigger.event) ?? []).filter((rule) =>
      isTriggeredBy(rule, trigger.objectId),
    );
  const relevant = items.filter((item) => rulesOf(item).length > 0);
  if (relevant.length === 0) return;
  const decide = async (events: readonly EarningEvent[]) => {
    const triggers = events.map((item) => ({ trigger: item.trigger, rules: rulesOf(item) }));
    const states = await loadStates(tx, deps, triggers, definitions);
    return events.map((item, index) => {
      const state = states[index];
      if (state === undefined || !state.customerExists)
        return { item, grants: [], withoutCard: [] };
      return { item, ...decideGrants(item.trigger, state) };
    });
  };
  const decided = await decide(relevant);
  const withoutCards = decided.filter(({ withoutCard }) => withoutCard.length > 0);
  // A card that is published concurrently is either found under the lock of its customer, or finds the waiting accrual.
  const held = await lockCustomers(
    tx,
    withoutCards.map(({ item }) => item.trigger),
  );
  const again = await decide(
    withoutCards
      .map(({ item }) => item)
      .filter(({ trigger }) => held.has(keyOf(trigger.projectId, trigger.customerId))),
  );
  const final = [...decided.filter(({ withoutCard }) => withoutCard.length === 0), ...again];
  await grant(
    tx,
    deps,
    final.flatMap(({ item, grants }) =>
      grants.map((one) => ({ ...one, origin: originOf(item.event) })),
    ),
  );
  await awaitCards(
    tx,
    deps,
    final.flatMap(({ item, withoutCard }) => withoutCard.map((program) => ({ item, program }))),
  );
}

/** With the rules that other processes created before the events. */
export async function currentDefinitions(
  deps: Pick<Deps, "definitions" | "earning">,
  items: readonly EarningEvent[],
): Promise<Definitions> {
  const projectIds = new Set(items.map(({ trigger }) => trigger.projectId));
  const definitionsOf = async (id: string) => {
    await deps.definitions.refresh(id);
    return [id, await deps.earning(id)] as const;
  };
  return new Map(await Promise.all([...projectIds].map(definitionsOf)));
}

/** A grant, and what caused its event. */
type CausedGrant = Grant & { readonly origin: Origin | undefined };

/** A card that was requested for the event starts after it. */
const timeOf = ({ trigger, member }: Grant): number => Math.max(trigger.at, member.joinedAt);

async function grant(tx: Queryable, deps: Deps, grants: readonly CausedGrant[]): Promise<void> {
  if (grants.length === 0) return;
  const pending = await withoutCanceledOrders(
    tx,
    grants.filter(({ activatesOn }) => activatesOn !== null),
  );
  const immediate = grants.filter(({ activatesOn }) => activatesOn === null);
  const granting = [...immediate, ...pending];
  if (granting.length === 0) return;
  // All cards together, in key order: the pending points below lock some of them again.
  const cards = await openAndLockCards(
    tx,
    granting.map(({ member }) => member),
    Math.max(...granting.map(timeOf)),
  );
  // A rule whose pending points were removed since must not grant the same event again.
  const granted = new Set(
    (
      await findPendingCauses(
        tx,
        immediate.map(({ member, cause }) => ({ ...member, cause })),
      )
    ).map(({ projectId, cardId, cause }) => keyOf(projectId, cardId, cause)),
  );
  await movePointsOf(tx, deps, {
    cards,
    movements: immediate
      .filter(({ member, cause }) => !granted.has(keyOf(member.projectId, member.cardId, cause)))
      .map((one) => ({
        card: one.member,
        type: "POINTS_ACCRUAL" as const,
        points: one.points,
        expiresOn: one.expiresOn,
        cause: one.cause,
        at: timeOf(one),
        expiredBefore: one.today,
        details: JSON.stringify(grantDetails(one)),
        origin: one.origin,
      })),
  });
  await addPendingPoints(
    tx,
    deps,
    pending.map((one) => ({
      card: one.member,
      entry: {
        projectId: one.member.projectId,
        cardId: one.member.cardId,
        campaignId: one.rule.campaignId,
        customerId: one.member.customerId,
        orderId: one.trigger.order?.id ?? null,
        points: one.points,
        activatesOn: one.activatesOn ?? one.today,
        cause: one.cause,
        ruleId: one.rule.id,
        details: pendingDetails(one, one.origin),
        createdAt: timeOf(one),
      },
      origin: one.origin,
    })),
  );
}

/** The customers are locked. A program that customers join automatically gets a request for a card. */
async function awaitCards(
  tx: Queryable,
  deps: Deps,
  missing: readonly MissingCard[],
): Promise<void> {
  await insertAwaitedCards(
    tx,
    missing.map(({ item: { trigger, event }, program }) => ({
      projectId: trigger.projectId,
      customerId: trigger.customerId,
      campaignId: program.id,
      eventId: event.id,
      topic: event.topic,
      type: event.type ?? "",
      payload: event.payload,
      requested: program.autoJoin,
      origin: originOf(event),
    })),
  );
  const requests = missing
    .filter(({ program }) => program.autoJoin)
    .map(({ item: { trigger, event }, program }) => ({
      ...cardRequestedEvent(deps.newId("event"), {
        projectId: trigger.projectId,
        customerId: trigger.customerId,
        campaignId: program.id,
        at: trigger.at,
      }),
      origin: originOf(event),
    }));
  await enqueue(tx, requests, undefined);
}
