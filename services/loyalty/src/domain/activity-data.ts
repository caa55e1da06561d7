type Data = Readonly<Record<string, unknown>>;

/** What lists are filtered by, and the rest of the data. */
export type ActivityData = {
  readonly campaignId: string | null;
  readonly campaignType: string | null;
  readonly rewardId: string | null;
  readonly productIds: readonly string[] | null;
  readonly data: Data;
};

type Described = {
  readonly campaign?: { readonly id: string; readonly campaign_type?: string };
  readonly reward?: { readonly id: string };
  readonly order?: { readonly product_ids?: readonly string[] };
};

/** Resources of which only the id is known become the id. */
export function splitData({ campaign, reward, order, ...others }: Data & Described): ActivityData {
  const { product_ids: productIds = null, ...rest } = order ?? {};
  const data = { ...others, ...(order !== undefined && { order: rest }) };
  return {
    campaignId: campaign?.id ?? null,
    campaignType: campaign?.campaign_type ?? null,
    rewardId: reward?.id ?? null,
    productIds,
    data: mapResources(data, (value) => (isOnlyId(value) ? value.id : value)),
  };
}

const isOnlyId = (value: unknown): value is { readonly id: string } =>
  typeof value === "object" && value !== null && "id" in value && Object.keys(value).length === 1;

/** The data of an activity as the API shows it. */
export function joinData(stored: ActivityData): Data {
  const { campaignId, campaignType, rewardId, productIds } = stored;
  const data = mapResources(stored.data, (value) =>
    typeof value === "string" ? { id: value } : value,
  );
  return completeData({
    ...data,
    ...(campaignId !== null && {
      campaign: { id: campaignId, ...(campaignType !== null && { campaign_type: campaignType }) },
    }),
    ...(rewardId !== null && { reward: { id: rewardId } }),
    ...(productIds !== null && { order: { ...(data["order"] as Data), product_ids: productIds } }),
  });
}

/** The `object` of the resources in activities, and what else all of one kind have: it is not stored with each. */
const COMMON: Readonly<Record<string, Data>> = {
  redemption: { object: "redemption" },
  rollback: { object: "redemption_rollback" },
  publication: { object: "publication" },
  voucher: { object: "voucher" },
  promotion_tier: { object: "promotion_tier" },
  reward: { object: "reward" },
  campaign: { object: "campaign" },
  order: { object: "order", product_ids: [] },
};

const mapResources = (data: Data, change: (value: unknown, common: Data) => unknown): Data =>
  Object.fromEntries(
    Object.entries(data).map(([name, value]) => {
      const common = COMMON[name];
      return [name, common === undefined ? value : change(value, common)];
    }),
  );

const completeData = (stored: Data): Data =>
  mapResources(stored, (value, common) => ({ ...common, ...(value as Data) }));
