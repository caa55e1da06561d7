import { invalidPayload } from "@scrip/errors";

import type { Json } from "./campaign.ts";
import { invalidCampaign } from "./errors.ts";
import {
  CONVERSION_EVENT_TYPES,
  DEFAULT_REFERRAL_PROGRAM,
  MAX_COUPONS,
  REFERRAL_REWARD_TYPES,
  type ReferralProgram,
  type ReferralReward,
} from "./referral-program.ts";

/** A reward of a request, whose campaign is not looked up yet. */
export type RequestedReward = Omit<ReferralReward, "campaign"> & {
  readonly campaign: { readonly id: string | null; readonly name: string | null };
};

export type RequestedReferralProgram = Omit<ReferralProgram, "refereeReward" | "referrerReward"> & {
  readonly refereeReward: RequestedReward | null;
  readonly referrerReward: RequestedReward | null;
};

const MAX_AMOUNT = 10_000_000_000_000;

/** The settings in a request (docs/referrals.md#programs). */
export function parseReferralProgram(json: Json): RequestedReferralProgram {
  const path = ".referral_program";
  const conversionEventType = oneOf(
    json["conversion_event_type"] ?? DEFAULT_REFERRAL_PROGRAM.conversionEventType,
    { path: `${path}.conversion_event_type`, allowed: CONVERSION_EVENT_TYPES },
  );
  return {
    conversionEventType,
    customEvent:
      conversionEventType === "custom_event" ? parseCustomEvent(json["custom_event"]) : null,
    refereeReward: parseOptionalReward(json["referee_reward"], `${path}.referee_reward`),
    referrerReward: parseOptionalReward(json["referrer_reward"], `${path}.referrer_reward`),
  };
}

function parseCustomEvent(value: unknown): NonNullable<ReferralProgram["customEvent"]> {
  const path = ".referral_program.custom_event";
  if (value === undefined || value === null) {
    throw invalidCampaign("Property 'custom_event' is required for conversion by custom_event");
  }
  const event = objectAt(value, path);
  const id = textAt(event["id"], `${path}.id`);
  const name = textAt(event["name"], `${path}.name`);
  if (id !== null || name !== null) return { id, name };
  throw invalidCampaign("Property 'custom_event' must have 'id' or 'name'");
}

const parseOptionalReward = (value: unknown, path: string): RequestedReward | null =>
  value === undefined || value === null ? null : parseReward(value, path);

export function parseReward(value: unknown, path: string): RequestedReward {
  const reward = objectAt(value, path);
  const parent = objectAt(reward["related_object_parent"], `${path}.related_object_parent`);
  const id = textAt(parent["id"], `${path}.related_object_parent.id`);
  const name = textAt(parent["name"], `${path}.related_object_parent.name`);
  if (id === null && name === null) {
    throw invalidPayload(`Property ${path}.related_object_parent must have .id or .name`);
  }
  const rewardId = textAt(reward["reward_id"], `${path}.reward_id`);
  const type = oneOf(reward["type"], { path: `${path}.type`, allowed: REFERRAL_REWARD_TYPES });
  const amount =
    type === "DISCOUNT_VOUCHER"
      ? amountAt(reward["amount"] ?? 1, { path: `${path}.amount`, max: MAX_COUPONS })
      : amountAt(reward["amount"], { path: `${path}.amount`, max: MAX_AMOUNT });
  return { ...(rewardId !== null && { rewardId }), campaign: { id, name }, type, amount };
}

function objectAt(value: unknown, path: string): Json {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalidPayload(`Property ${path} must be object`);
  }
  return value as Json;
}

function textAt(value: unknown, path: string): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value === "string" && value !== "" && value.length <= 300) return value;
  throw invalidPayload(`Property ${path} must be a string of 1 to 300 characters`);
}

function oneOf<Value extends string>(
  value: unknown,
  { path, allowed }: { readonly path: string; readonly allowed: readonly Value[] },
): Value {
  const found = allowed.find((each) => each === value);
  if (found !== undefined) return found;
  throw invalidPayload(`Property ${path} must be one of: ${allowed.join(", ")}`);
}

function amountAt(
  value: unknown,
  { path, max }: { readonly path: string; readonly max: number },
): bigint {
  const amount = typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value;
  if (typeof amount === "number" && Number.isInteger(amount)) {
    if (amount >= 1 && amount <= max) return BigInt(amount);
  }
  throw invalidPayload(`Property ${path} must be an integer from 1 to ${max}`);
}

/** The settings as the API shows and the database stores them. */
export const referralProgramToJson = (program: ReferralProgram): Json => ({
  conversion_event_type: program.conversionEventType,
  ...(program.customEvent !== null && { custom_event: program.customEvent }),
  ...(program.refereeReward !== null && { referee_reward: rewardToJson(program.refereeReward) }),
  ...(program.referrerReward !== null && { referrer_reward: rewardToJson(program.referrerReward) }),
});

export const rewardToJson = ({ campaign, type, amount, rewardId }: ReferralReward): Json => ({
  ...(rewardId !== undefined && { reward_id: rewardId }),
  related_object_parent: { id: campaign.id, name: campaign.name, object: "CAMPAIGN" },
  type,
  amount: Number(amount),
});

/** Stored settings. Older releases stored what was sent: settings without a meaning are the default ones. */
export function referralProgramFromJson(json: Json): ReferralProgram {
  try {
    const { refereeReward, referrerReward, ...program } = parseReferralProgram(json);
    return {
      ...program,
      refereeReward: refereeReward && storedReward(refereeReward),
      referrerReward: referrerReward && storedReward(referrerReward),
    };
  } catch {
    return DEFAULT_REFERRAL_PROGRAM;
  }
}

export const rewardFromJson = (json: Json): ReferralReward => storedReward(parseReward(json, ""));

function storedReward({ campaign: { id, name }, ...reward }: RequestedReward): ReferralReward {
  if (id === null || name === null) throw new Error("a stored reward has the id of its campaign");
  return { ...reward, campaign: { id, name } };
}
