import { type ExpirationRules, isWithinDates, type Validity } from "@scrip/rules";

/** JSON as a client sent it. */
export type Json = Readonly<Record<string, unknown>>;

/** Settings of a loyalty program that points depend on; the campaign service owns it. */
export type LoyaltyProgram = {
  readonly projectId: string;
  readonly id: string;
  readonly name: string;
  readonly active: boolean;
  readonly autoJoin: boolean;
  readonly validity: Validity;
  /** Null: points never expire. */
  readonly expirationRules: ExpirationRules | null;
  /** How customers qualify for tiers, as the campaign has it. */
  readonly tiersExpiration: Json | null;
  /** Points that a card of the program starts with. */
  readonly initialPoints: bigint;
  readonly deleted: boolean;
};

/** A loyalty card with its holder; the voucher service owns both. */
export type LoyaltyMember = {
  readonly projectId: string;
  readonly cardId: string;
  readonly campaignId: string | null;
  readonly customerId: string;
  /** Points that the card was created with. */
  readonly initialPoints: bigint;
  readonly joinedAt: number;
};

/** When a card can be used; the voucher service owns it. */
export type CardState = Pick<Validity, "startDate" | "expirationDate"> & {
  readonly active: boolean;
};

/** A loyalty card with its holder and its state. */
export type MemberCard = LoyaltyMember & CardState;

/** Whether a card is enabled, has started and has not expired. */
export const isUsable = (card: CardState, at: number): boolean =>
  card.active && isWithinDates(card, at);
