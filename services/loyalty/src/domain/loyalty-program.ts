import type { ExpirationRules, Validity } from "@scrip/rules";

/** JSON as a client sent it. */
export type Json = Readonly<Record<string, unknown>>;

/** What points need of a loyalty program; the campaign service owns it. */
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
