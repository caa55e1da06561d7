import {
  changeRules,
  changes,
  idOf,
  loadOfParents,
  pick,
  resource,
  rulesOf,
  type Section,
  withoutNulls,
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
      (await api.listAll(`/v1/rewards/${parent}/assignments`)).map((each) => ({
        id: idOf(each),
        name: String(each["related_object_id"]),
        parent,
        value: { ...pick(each, ASSIGNMENT), ...rulesOf(each) },
      })),
    ),
  create: async (api, { parent, name, value }) =>
    idOf(
      await api.call("POST", `/v1/rewards/${parent}/assignments`, {
        campaign: name,
        ...withoutNulls(value),
      }),
    ),
  update: async (api, write) => {
    const { validation_rules: _, ...body } = changes(write);
    if (Object.keys(body).length > 0)
      await api.call("PUT", `/v1/rewards/${write.parent}/assignments/${write.id}`, body);
    await changeRules(api, "reward_assignment", write);
  },
  remove: async (api, { id, parent }) =>
    void (await api.call("DELETE", `/v1/rewards/${parent}/assignments/${id}`)),
};
