import {
  idOf,
  loadOfParents,
  pick,
  resource,
  rulesOf,
  type Section,
  toItems,
  updateWithRules,
} from "../section.ts";

export const rewards = resource({
  name: "rewards",
  path: "/v1/rewards",
  fields: ["type", "parameters", "stock", "attributes", "metadata"],
  fixed: ["type"],
});

const ASSIGNMENT = ["parameters", "validation_rules"];

export const rewardAssignments: Section = {
  name: "reward_assignments",
  parent: "rewards",
  namedBy: "campaigns",
  fields: ASSIGNMENT,
  load: async (api, parents) =>
    loadOfParents(parents, async ({ id: parent }) =>
      toItems(await api.listAll(`/v1/rewards/${parent}/assignments`), {
        parent,
        nameOf: (row) => row["related_object_id"],
        valueOf: (row) => ({ ...pick(row, ASSIGNMENT), ...rulesOf(row) }),
      }),
    ),
  create: async (api, { parent, name, value }) =>
    idOf(
      await api.call("POST", `/v1/rewards/${parent}/assignments`, {
        campaign: name,
        ...value,
      }),
    ),
  update: (api, write) =>
    updateWithRules(api, write, {
      type: "reward_assignment",
      path: `/v1/rewards/${write.parent}/assignments/${write.id}`,
    }),
  remove: async (api, { id, parent }) =>
    void (await api.call("DELETE", `/v1/rewards/${parent}/assignments/${id}`)),
};
