import { isJsonObject, type JsonObject, rowsOf } from "../../http.ts";
import { changes, idOf, loadOfParents, pick, type Section, toItems } from "../section.ts";
import { ofType, VALIDITY, withParentId } from "./campaign-sections.ts";

const EARNING_RULE = [
  "event",
  "custom_event",
  "segment",
  "loyalty_tier",
  "active",
  "loyalty",
  "pending_points",
  "expiration_rules",
  "validation_rule_id",
  ...VALIDITY,
  "metadata",
];

/** The name of an earning rule is its banner, or its event if it has none. */
export const earningRules: Section = {
  name: "earning_rules",
  parent: "campaigns",
  fields: EARNING_RULE,
  fixed: ["event", "custom_event", "segment", "loyalty_tier"],
  normalize: (value) => ({
    ...value,
    ...(isJsonObject(value["loyalty"]) && { loyalty: normalizeTargets(value["loyalty"]) }),
  }),
  load: async (api, parents) =>
    loadOfParents(ofType("LOYALTY_PROGRAM", parents), async ({ id: parent }) =>
      toItems(await api.listAll(`/v1/loyalties/${parent}/earning-rules`), {
        parent,
        nameOf: (row) => (row["source"] as JsonObject)["banner"] ?? row["event"],
        valueOf: (row) => ({
          ...pick(row, EARNING_RULE),
          loyalty: normalizeTargets(row["loyalty"] as JsonObject),
        }),
      }),
    ),
  create: async (api, { parent, name, value }) => {
    const source = name === value["event"] ? {} : { source: { banner: name } };
    const created = await api.call("POST", `/v1/loyalties/${parent}/earning-rules`, [
      { ...value, ...source },
    ]);
    return idOf(created["0"] as JsonObject);
  },
  update: async (api, write) =>
    void (await api.call(
      "PUT",
      `/v1/loyalties/${write.parent}/earning-rules/${write.id}`,
      changes(write),
    )),
  remove: async (api, { id, parent }) =>
    void (await api.call("DELETE", `/v1/loyalties/${parent}/earning-rules/${id}`)),
};

/** `object` and `id` are another form of a list of one target, and responses have both. */
function normalizeTargets(loyalty: JsonObject): JsonObject {
  const measures = loyalty["order_items"];
  if (!isJsonObject(measures)) return loyalty;
  return {
    ...loyalty,
    order_items: Object.fromEntries(
      Object.entries(measures).map(([key, measure]) => [
        key,
        isJsonObject(measure) ? withTargets(measure) : measure,
      ]),
    ),
  };
}

const withTargets = ({
  object,
  id,
  applicable_to: targets,
  ...measure
}: JsonObject): JsonObject => ({
  ...measure,
  applicable_to: targets ?? [{ object, id }],
});

const LOYALTY_TIER = ["points", "earning_rules", "rewards", "metadata"];

export const loyaltyTiers: Section = {
  name: "loyalty_tiers",
  parent: "campaigns",
  fields: LOYALTY_TIER,
  load: async (api, parents) =>
    loadOfParents(ofType("LOYALTY_PROGRAM", parents), async ({ id: parent }) =>
      toItems(await api.listAll(`/v1/loyalties/${parent}/tiers`), {
        parent,
        valueOf: (row) => pick(row, LOYALTY_TIER),
      }),
    ),
  create: async (api, { parent, name, value }) => {
    const created = await api.call("POST", `/v1/loyalties/${parent}/tiers`, [{ name, ...value }]);
    return idOf(created["0"] as JsonObject);
  },
  update: async (api, write) => {
    const fields = Object.entries(changes(write)).map(([field, value]) => [field, value ?? {}]);
    await api.call(
      "PUT",
      `/v1/loyalties/${write.parent}/tiers/${write.id}`,
      Object.fromEntries(fields),
    );
  },
  remove: async (api, { id, parent }) =>
    void (await api.call("DELETE", `/v1/loyalties/${parent}/tiers/${id}`)),
};

const REFERRAL_TIER = ["active", "condition", "segment_id", "reward"];

export const referralTiers: Section = {
  name: "referral_tiers",
  parent: "campaigns",
  fields: REFERRAL_TIER,
  load: async (api, parents) =>
    loadOfParents(ofType("REFERRAL_PROGRAM", parents), async ({ id: parent }) =>
      toItems(rowsOf(await api.call("GET", `/v1/referrals/${parent}/tiers`)), {
        parent,
        valueOf: (row) => ({
          ...pick(row, REFERRAL_TIER),
          reward: withParentId(row["reward"] as JsonObject),
        }),
      }),
    ),
  create: async (api, { parent, name, value }) =>
    idOf(await api.call("POST", `/v1/referrals/${parent}/tiers`, { name, ...value })),
  update: async (api, write) => {
    const path = `/v1/referrals/${write.parent}/tiers/${write.id}`;
    const { active, ...body } = changes(write);
    if (Object.keys(body).length > 0) await api.call("PUT", path, body);
    if (active !== undefined)
      await api.call("POST", `${path}/${active === false ? "disable" : "enable"}`, {});
  },
  remove: async (api, { id, parent }) =>
    void (await api.call("DELETE", `/v1/referrals/${parent}/tiers/${id}`)),
};
