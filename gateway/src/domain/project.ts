import { isTimeZone } from "@scrip/rules";

/** A merchant's tenant: the settings that every decision for it depends on. */
export type Project = {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  /** As it was given: an IANA name or a GMT form. */
  readonly timeZone: string;
  /** The day that weeks begin on, 0 (Sunday) to 6 (Saturday). */
  readonly firstWeekday: number;
  readonly currency: string | null;
  readonly dialCode: string | null;
  readonly caseSensitiveCodes: boolean;
  readonly defaultCodeConfig: CodeConfig | null;
  readonly clientTrustedDomains: readonly string[];
  readonly clientFeatures: readonly ClientFeature[];
  readonly sandbox: boolean;
  /** Epoch milliseconds that the sandbox clock stands at; null for real time. */
  readonly sandboxNow: number | null;
  readonly webhookVersion: string | null;
  readonly apiVersion: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date | null;
};

/** What weeks begin on where the project says nothing. */
export const MONDAY = 1;

/** The project's default for generated codes, in the words of the API. */
export type CodeConfig = {
  readonly length?: number;
  readonly charset?: string;
  readonly pattern?: string;
  readonly prefix?: string;
  readonly postfix?: string;
};

/** What the client side may do beyond validating, when the project says so. */
export const CLIENT_FEATURES = [
  "redeem",
  "publish",
  "list_vouchers",
  "create_customer",
  "loyalty_events",
  "set_voucher_expiration_date",
] as const;

export type ClientFeature = (typeof CLIENT_FEATURES)[number];

/**
 * What a project may be given: an IANA name, or a GMT form. A bare offset is neither, though
 * services pass it on among themselves.
 */
export const isProjectTimeZone = (timeZone: string): boolean =>
  !/^[+-]/.test(timeZone) && isTimeZone(timeZone);

/**
 * The form of a time zone that every service and `Intl` understand: `GMT+2` is written `+02:00`,
 * IANA names stay.
 */
export function canonicalTimeZone(timeZone: string): string {
  const offset = /^(?:GMT|UTC)([+-])(\d{1,2})(?::?(\d{2}))?$/i.exec(timeZone);
  if (offset === null) return timeZone;
  const [, sign = "+", hours = "0", minutes = "00"] = offset;
  return `${sign}${hours.padStart(2, "0")}:${minutes}`;
}
