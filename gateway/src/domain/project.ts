import { isTimeZone } from "@scrip/rules";

/** A tenant and the settings that its decisions depend on. */
export type Project = {
  readonly id: string;
  /** Grows with every change. */
  readonly version: bigint;
  readonly name: string;
  readonly description: string | null;
  /** As configured: an IANA name or a GMT offset. */
  readonly timeZone: string;
  /** First day of the week, 0 (Sunday) to 6 (Saturday). */
  readonly firstWeekday: number;
  readonly currency: string | null;
  readonly dialCode: string | null;
  readonly caseSensitiveCodes: boolean;
  readonly defaultCodeConfig: CodeConfig | null;
  readonly clientTrustedDomains: readonly string[];
  readonly clientFeatures: readonly ClientFeature[];
  readonly sandbox: boolean;
  /** Time of the sandbox clock in epoch milliseconds; null for real time. */
  readonly sandboxNow: number | null;
  readonly webhookVersion: string | null;
  /** Names of the events that its webhooks receive. */
  readonly webhookEvents: readonly string[];
  /** Whether an earning rule was ever written; never reset. */
  readonly hasEarningRules: boolean;
  /** Whether the pending points of an order are canceled when the order becomes CANCELED. */
  readonly cancelPendingPointsOnOrderCancel: boolean;
  readonly apiVersion: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date | null;
};

/** Default first day of the week. */
export const MONDAY = 1;

/** Default for generated codes, in the form of the API. */
export type CodeConfig = {
  readonly length?: number;
  readonly charset?: string;
  readonly pattern?: string;
  readonly prefix?: string;
  readonly postfix?: string;
};

/** Features of client-side callers that the project must enable. */
export const CLIENT_FEATURES = [
  "redeem",
  "publish",
  "list_vouchers",
  "create_customer",
  "loyalty_events",
  "set_voucher_expiration_date",
] as const;

export type ClientFeature = (typeof CLIENT_FEATURES)[number];

/** An IANA name or a GMT offset. Bare offsets are used only between services. */
export const isProjectTimeZone = (timeZone: string): boolean =>
  !/^[+-]/.test(timeZone) && isTimeZone(timeZone);

/**
 * The form that every service and `Intl` accept: `GMT+2` becomes `+02:00`, IANA names are
 * unchanged.
 */
export function canonicalTimeZone(timeZone: string): string {
  const offset = /^(?:GMT|UTC)([+-])(\d{1,2})(?::?(\d{2}))?$/i.exec(timeZone);
  if (offset === null) return timeZone;
  const [, sign = "+", hours = "0", minutes = "00"] = offset;
  return `${sign}${hours.padStart(2, "0")}:${minutes}`;
}
