import {
  checkRule,
  evaluateValidity,
  isWithinDates,
  type Metadata,
  namedSegments,
  type ValidationRule,
} from "@scrip/rules";

import { expiryDate } from "../expiry-date.ts";
import { addDays, type LocalDate, localDateAt } from "../local-date.ts";
import {
  isUsable,
  type LoyaltyMember,
  type LoyaltyProgram,
  type MemberCard,
} from "../loyalty-program.ts";
import type { Tier } from "../tiers/tier.ts";
import { earnedPoints } from "./earned-points.ts";
import type { EarningRule } from "./earning-rule.ts";
import { earningRuleReader, type EarningOrder, type EarningSubject } from "./subject.ts";

/** An event that earning rules wait for. */
export type EarningTrigger = {
  readonly projectId: string;
  /** What grants points once for each rule and card: the order or the custom event. */
  readonly causeId: string;
  /** The event of the rules, such as `order.paid`. */
  readonly event: string;
  /** Id and type of the event, as transactions show them. */
  readonly eventId: string;
  readonly eventType: string;
  readonly customerId: string;
  /** The segment or loyalty tier that the event is about; null for other events. */
  readonly objectId: string | null;
  /** The only card that earns; null: all cards of the customer. */
  readonly cardId: string | null;
  /** Time of the event on the project's clock. */
  readonly at: number;
  readonly order: EarningOrder | null;
  readonly eventMetadata: Metadata | null;
};

/** Points of one rule for one card. */
export type Grant = {
  readonly trigger: EarningTrigger;
  readonly rule: EarningRule;
  readonly member: LoyaltyMember;
  readonly points: bigint;
  /** The tier of the card before the event. */
  readonly tier: Tier | null;
  readonly cause: string;
  /** The day on which the points become active; null: immediately. */
  readonly activatesOn: LocalDate | null;
  /** The last day on which immediately active points can be spent; null: they never expire. */
  readonly expiresOn: LocalDate | null;
  readonly today: LocalDate;
};

export type EarningState = {
  /** Rules of the event, oldest first. */
  readonly rules: readonly EarningRule[];
  /** The validation rule of an earning rule; undefined when it is deleted, and then never holds. */
  readonly conditionOf: (id: string) => ValidationRule | undefined;
  readonly programs: ReadonlyMap<string, LoyaltyProgram>;
  /** Cards that the customer holds. */
  readonly members: readonly MemberCard[];
  readonly subject: EarningSubject;
  /** The tier of a card: a snapshot from before the first rule, so that all see the same tier. */
  readonly tierOf: (member: LoyaltyMember) => Tier | null;
};

export type EarningDecision = {
  readonly grants: readonly Grant[];
  /** Programs that would grant points if the customer had a card. */
  readonly withoutCard: readonly LoyaltyProgram[];
};

/** The points of every live rule for an event (docs/earning.md#accrual). */
export function decideGrants(trigger: EarningTrigger, state: EarningState): EarningDecision {
  const grants: Grant[] = [];
  const withoutCard = new Map<string, LoyaltyProgram>();
  for (const rule of state.rules) {
    const program = state.programs.get(rule.campaignId);
    if (program === undefined || !isLive(rule, program, state.subject)) continue;
    if (!holds(rule, state)) continue;
    const members = state.members.filter(
      ({ campaignId, cardId }) =>
        campaignId === rule.campaignId && (trigger.cardId === null || cardId === trigger.cardId),
    );
    if (members.length === 0 && trigger.cardId === null && pointsOf(rule, state.subject) > 0n) {
      withoutCard.set(program.id, program);
    }
    for (const member of members) {
      // A card that was requested for the event starts after it.
      if (!isUsable(member, Math.max(trigger.at, member.joinedAt))) continue;
      const tier = state.tierOf(member);
      const points = pointsOf(rule, state.subject, tier);
      if (points > 0n) {
        grants.push(grantOf(trigger, { rule, member, program, points, tier, state }));
      }
    }
  }
  return { grants, withoutCard: [...withoutCard.values()] };
}

/** The points of a rule, mapped by the tier of the card. */
export const pointsOf = (
  rule: EarningRule,
  subject: EarningSubject,
  tier: Tier | null = null,
): bigint => earnedPoints(rule.calculation, subject, tier?.earningRules.get(rule.id) ?? null);

/** Active and inside its time limits, in a program that is active and within its dates. */
const isLive = (rule: EarningRule, program: LoyaltyProgram, { time }: EarningSubject): boolean =>
  rule.active &&
  program.active &&
  !program.deleted &&
  isWithinDates(program.validity, time.now) &&
  evaluateValidity(rule.validity, program.validity, time) === "open";

export function holds(
  { validationRuleId }: EarningRule,
  { conditionOf, subject }: Pick<EarningState, "conditionOf" | "subject">,
): boolean {
  if (validationRuleId === null) return true;
  const condition = conditionOf(validationRuleId);
  if (condition === undefined) return false;
  const { unreadableSegmentIds: unreadable } = subject;
  if (unreadable.length > 0 && namedSegments(condition).some((id) => unreadable.includes(id))) {
    return false;
  }
  return checkRule(condition, earningRuleReader(subject), "after_effect").status === "holds";
}

function grantOf(
  trigger: EarningTrigger,
  {
    rule,
    member,
    program,
    points,
    tier,
    state,
  }: {
    readonly rule: EarningRule;
    readonly member: LoyaltyMember;
    readonly program: LoyaltyProgram;
    readonly points: bigint;
    readonly tier: Tier | null;
    readonly state: EarningState;
  },
): Grant {
  const today = localDateAt(state.subject.time.timeZone, trigger.at);
  return {
    trigger,
    rule,
    member,
    points,
    tier,
    cause: `earned:${rule.id}:${trigger.causeId}`,
    activatesOn: rule.pendingDays === null ? null : addDays(today, rule.pendingDays),
    expiresOn: expiryDate(rule.expirationRules ?? program.expirationRules, today),
    today,
  };
}
