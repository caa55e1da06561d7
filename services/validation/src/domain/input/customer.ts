import type { Metadata } from "@scrip/rules";

/** The customer as stored, overlaid with the customer fields of the request. */
export type CustomerSnapshot = {
  /** null if the customer is not stored. */
  readonly id: string | null;
  readonly sourceId: string | null;
  readonly metadata: Metadata;
  readonly birthdate: string | null;
  /** Ids of the segments that contain the customer. */
  readonly segments: readonly string[];
  /** Ids of the loyalty tiers that the customer has reached. */
  readonly loyaltyTiers: readonly string[];
};

export type CallerIdentity = {
  /** Id of the application (API key). */
  readonly channelId: string;
  readonly userId: string | null;
};
