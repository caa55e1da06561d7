import { ApiError, invalidPayload } from "@scrip/errors";
import type {
  AdjustMemberBalanceRequest,
  MemberService,
} from "@scrip/proto/scrip/voucher/v1/members_pb";
import type { Call, Handler } from "@scrip/rpc";
import { civilFromDays, localTimeAt, parseDay, parseInstant } from "@scrip/rules";

import type { Deps } from "../deps.ts";
import { requireCard } from "../loading/card-transactions.ts";
import { adjustPoints } from "../points/adjust-points.ts";

export const adjustMemberBalance =
  (deps: Deps): Handler<typeof MemberService.method.adjustMemberBalance> =>
  async (request, call) => {
    const { memberId, campaignId, points = 0n, sourceId, reason } = request;
    const { expirationType = "PROGRAM_RULES" } = request;
    const card = await requireCard(deps, memberId, { call, campaignId });
    const expirationDate = expirationDateOf(request, call);
    const adjustment = { points, expirationType, expirationDate, sourceId, reason };
    return adjustPoints(deps, card, { adjustment, call });
  };

/** The local date of `CUSTOM_DATE`; ignored for other types. */
function expirationDateOf(
  { expirationType, expirationDate, points = 0n }: AdjustMemberBalanceRequest,
  { project }: Call,
): string | undefined {
  if (expirationType !== "CUSTOM_DATE") return undefined;
  if (expirationDate === undefined) {
    if (points < 0n) return undefined;
    throw invalidPayload("Property .expiration_date is required with expiration_type CUSTOM_DATE");
  }
  if (parseDay(expirationDate, "UTC") !== undefined) return expirationDate;
  // Without a zone, the date-time is one of the project's calendar.
  if (parseInstant(`${expirationDate}Z`) !== undefined) return expirationDate.slice(0, 10);
  const instant = parseInstant(expirationDate);
  if (instant === undefined) {
    throw new ApiError("invalid_payload", {
      details: "Property .expiration_date cannot be recognized as a ISO-8601 compliant date",
    });
  }
  const { year, month, day } = civilFromDays(localTimeAt(project.timeZone, instant).epochDay);
  return `${padded(year, 4)}-${padded(month, 2)}-${padded(day, 2)}`;
}

const padded = (value: number, length: number): string => String(value).padStart(length, "0");
