import { projectTime } from "@scrip/clock";
import { enqueue } from "@scrip/events";
import type { Queryable } from "@scrip/postgres";
import { evaluateValidity } from "@scrip/rules";

import type { Deps } from "../deps.ts";
import { MAX_REDEMPTIONS_PER_DAY, rewardsToRedeem } from "../domain/auto-redeem.ts";
import {
  availablePoints,
  type Card,
  holdPoints,
  type PointsHold,
  type PointsLock,
  pointsLockedByOthers,
} from "../domain/card.ts";
import type { Stock } from "../domain/hold-points.ts";
import { keyOf } from "../domain/key.ts";
import { localDateAt, type LocalDate } from "../domain/local-date.ts";
import {
  isUsable,
  type LoyaltyMember,
  type LoyaltyProgram,
  type MemberCard,
} from "../domain/loyalty-program.ts";
import { type AutoRedemption, autoRedemptionHeldEvent } from "../events/auto-redemption-held.ts";
import { internally, type OriginOf } from "../points/card-origins.ts";
import { expireDue } from "../points/expire-due.ts";
import { countAutoRedemption, findAutoRedeemed } from "../store/auto-redemptions.ts";
import { openAndLockCards, saveBalances } from "../store/cards.ts";
import { type CardKey, findMembers } from "../store/loyalty-members.ts";
import { findPrograms } from "../store/loyalty-programs.ts";
import { insertPointsHolds } from "../store/points-holds.ts";
import { findLocksOfCards } from "../store/points-locks.ts";
import { DEFAULT_CALENDAR, findCalendars } from "../store/project-calendars.ts";
import { changeStocks, findRewards, lockStocks } from "../store/rewards.ts";
import { findHolderTiers, loadTiers } from "../tiers/holder-tiers.ts";
import { type PricedReward, priceInTier } from "./tier-price.ts";

type AutoRedeemDeps = Pick<Deps, "newId" | "tiers">;

export type AutoRedeemOptions = {
  /** The time of the redemptions; default: the current time of each project. */
  readonly time?: number | undefined;
  /** Points that expired before this date cannot be spent; default: the date of each project. */
  readonly expiredBefore?: LocalDate | undefined;
  /** Only cards whose points have moved, not those with the points that they were created with. */
  readonly movedOnly?: boolean;
  /** What moved the points of the cards; default: a job redeems by itself. */
  readonly originOf?: OriginOf | undefined;
};

/**
 * Holds the points of rewards that are redeemed automatically, in the caller's transaction; the voucher service commits
 * their redemptions (services/decisions/0058-automatic-redemptions-are-held-first.md). Costs two statements for cards of
 * programs without such a reward. Returns the number of redemptions. The caller calls `deps.onEvents` after its commit.
 */
export async function autoRedeem(
  tx: Queryable,
  deps: AutoRedeemDeps,
  cards: readonly CardKey[],
  { time, expiredBefore, movedOnly = false, originOf = internally }: AutoRedeemOptions = {},
): Promise<number> {
  const members = await findMembers(tx, cards);
  const assignments = await findAutoRedeemed(tx, members.map(programOf));
  const relevant = members.filter((member) => assignments.has(programKey(member)));
  if (relevant.length === 0) return 0;
  const offers = await loadOffers(tx, deps, { members: relevant, assignments, time });
  if (offers.length === 0) return 0;
  const locked = await openAndLockCards(
    tx,
    offers.map(({ member }) => member),
    Math.max(...offers.map(({ at }) => at)),
  );
  const times = new Map(offers.map(({ member, at }) => [member.projectId, at]));
  const current = await expireDue(tx, deps, { cards: locked, times, expiredBefore });
  const [locks, stocks] = await Promise.all([
    findLocksOfCards(
      tx,
      offers.map(({ member }) => member),
    ),
    lockStocks(
      tx,
      offers
        .filter(({ reward }) => reward.type === "MATERIAL")
        .map(({ member: { projectId }, reward }) => ({ projectId, rewardId: reward.id })),
    ),
  ]);
  const redemptions: AutoRedemption[] = [];
  const left = new Map(stocks);
  for (const offer of offers) {
    const card = current.get(keyOf(offer.member.projectId, offer.member.cardId));
    if (movedOnly && card?.ledgerVersion === 0n) continue;
    const redemption = card && decide(offer, { card, locks, stocks: left, newId: deps.newId });
    if (redemption === undefined || redemption === null) continue;
    const { projectId, customerId } = offer.member;
    const { date } = offer;
    if (
      !(await countAutoRedemption(tx, {
        projectId,
        customerId,
        date,
        limit: MAX_REDEMPTIONS_PER_DAY,
      }))
    )
      continue;
    takeFromStock(left, redemption.hold);
    redemptions.push(redemption);
  }
  await write(tx, deps, redemptions, originOf);
  return redemptions.length;
}

const programOf = ({ projectId, campaignId }: LoyaltyMember) => ({
  projectId,
  campaignId: campaignId ?? "",
});

const programKey = (member: LoyaltyMember): string =>
  keyOf(member.projectId, member.campaignId ?? "");

/** What a card could redeem at a time. */
type Offer = PricedReward & {
  readonly member: LoyaltyMember;
  readonly price: bigint;
  readonly tierId: string | null;
  readonly at: number;
  /** The date of this time on the project's calendar. */
  readonly date: string;
};

/** The rewards of live programs at the prices of their holders. */
async function loadOffers(
  tx: Queryable,
  deps: AutoRedeemDeps,
  {
    members,
    assignments,
    time,
  }: {
    readonly members: readonly MemberCard[];
    readonly assignments: Awaited<ReturnType<typeof findAutoRedeemed>>;
    readonly time: number | undefined;
  },
): Promise<readonly Offer[]> {
  const [programs, calendars, rewards, tiers] = await Promise.all([
    findPrograms(tx, members.map(programOf)),
    findCalendars(
      tx,
      members.map(({ projectId }) => projectId),
    ),
    findRewards(
      tx,
      members.map((member) => ({
        projectId: member.projectId,
        rewardId: assignments.get(programKey(member))?.reward_id ?? "",
      })),
    ),
    loadTiers(deps, members).then((projects) => findHolderTiers(tx, projects, members)),
  ]);
  // In key order, as the rows of customers are counted.
  const sorted = members.toSorted((a, b) => (a.customerId < b.customerId ? -1 : 1));
  return sorted.flatMap((member): Offer[] => {
    const { projectId, cardId } = member;
    const assignment = assignments.get(programKey(member));
    const reward = rewards.get(keyOf(projectId, assignment?.reward_id ?? ""));
    const { timeZone, sandboxNow } = calendars.get(projectId) ?? DEFAULT_CALENDAR;
    const at = time ?? projectTime({ sandboxNow });
    if (assignment === undefined || reward === undefined || !isUsable(member, at)) return [];
    if (!isLive(programs.get(programKey(member)), { now: at, timeZone })) return [];
    const tier = tiers.get(keyOf(projectId, cardId)) ?? null;
    const priced = priceInTier({ assignment, reward }, tier);
    const price = priced?.assignment.points ?? null;
    if (priced === null || price === null) return [];
    const date = localDateAt(timeZone, at);
    return [{ ...priced, member, price, tierId: tier?.id ?? null, at, date }];
  });
}

const isLive = (
  program: LoyaltyProgram | undefined,
  time: Parameters<typeof evaluateValidity>[2],
): boolean =>
  program !== undefined &&
  program.active &&
  !program.deleted &&
  evaluateValidity(program.validity, null, time) === "open";

function decide(
  { member, assignment, reward, price, tierId, at }: Offer,
  {
    card,
    locks,
    stocks,
    newId,
  }: {
    readonly card: Card;
    readonly locks: readonly PointsLock[];
    readonly stocks: ReadonlyMap<string, Stock>;
    readonly newId: Deps["newId"];
  },
): AutoRedemption | null {
  const { projectId, cardId, customerId } = member;
  const ofCard = locks.filter((lock) => lock.projectId === projectId && lock.cardId === cardId);
  const available =
    availablePoints(card) - pointsLockedByOthers(ofCard, { sessionKey: null, now: at });
  const stock = stocks.get(keyOf(projectId, reward.id));
  const stockLeft =
    stock === undefined || stock.stock === null ? null : stock.stock - stock.redeemed;
  const quantity = rewardsToRedeem({ available, price, stockLeft });
  if (quantity === 0n) return null;
  const hold: PointsHold = {
    projectId,
    id: newId("ps"),
    cardId,
    points: price * quantity,
    quantity,
    status: "PENDING",
    requestKey: null,
    rewardId: reward.id,
    takesStock: reward.type === "MATERIAL",
    redemptionId: null,
    sessionKey: null,
    lockedPoints: null,
    lockedUntil: null,
    automatic: true,
    at,
  };
  const held = holdPoints(card, hold.points);
  return { assignment, reward, hold, card: held, customerId, tierId };
}

function takeFromStock(
  stocks: Map<string, Stock>,
  { projectId, rewardId, quantity }: PointsHold,
): void {
  const key = keyOf(projectId, rewardId);
  const stock = stocks.get(key);
  if (stock !== undefined) stocks.set(key, { ...stock, redeemed: stock.redeemed + quantity });
}

async function write(
  tx: Queryable,
  { newId }: AutoRedeemDeps,
  redemptions: readonly AutoRedemption[],
  originOf: OriginOf,
): Promise<void> {
  if (redemptions.length === 0) return;
  const holds = redemptions.map(({ hold }) => hold);
  await saveBalances(
    tx,
    redemptions.map(({ card }) => card),
  );
  await insertPointsHolds(tx, holds);
  await changeStocks(
    tx,
    holds
      .filter(({ takesStock }) => takesStock)
      .map(({ projectId, rewardId, quantity: by }) => ({ projectId, rewardId, by })),
  );
  await enqueue(
    tx,
    redemptions.map((one) => ({
      ...autoRedemptionHeldEvent(newId("event"), one),
      origin: originOf(one.hold),
    })),
    undefined,
  );
}
