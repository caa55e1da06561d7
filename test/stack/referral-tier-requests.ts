import type { Json } from "./api.ts";
import type { Fixtures } from "./writing-fixtures.ts";

type Tools<Row> = {
  readonly tag: string;
  readonly post: (path: string, body?: Json) => Row;
  readonly put: (path: string, body?: Json) => Row;
  readonly rows: (
    table: string,
    condition?: string,
    count?: number,
    values?: readonly string[],
  ) => Partial<Row>;
};

/** Requests that write tiers of referral programs. */
export const referralTierRows = <Row>(
  { tiersPath, path, body }: Fixtures["referralTier"],
  { tag, post, put, rows }: Tools<Row>,
): Record<string, Row> => ({
  "ReferralTierService.CreateReferralTier": {
    ...post(tiersPath, { ...body, name: tag }),
    ...rows("campaign.referral_tier", "name = $2", 1, [tag]),
  },
  "ReferralTierService.UpdateReferralTier": put(path, { name: "changed" }),
  "ReferralTierService.EnableReferralTier": post(`${path}/enable`),
  "ReferralTierService.DisableReferralTier": post(`${path}/disable`),
});
