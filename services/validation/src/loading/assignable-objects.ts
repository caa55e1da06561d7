import { type Call, chunksOf } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import type { ObjectType } from "../store/rule-assignments.ts";

/** The part of a call that a lookup needs. */
type Requesting = Pick<Call, "project" | "deadline">;

type ObjectReference = { readonly type: ObjectType; readonly name: string };

/** Maximum number of codes per query of the voucher service. */
const MAX_CODES = 30;

/**
 * Resolves a voucher (by id or code), campaign (by id or name), promotion tier or reward assignment
 * to its id; undefined if it does not exist.
 */
export async function findAssignableObject(
  deps: Pick<Deps, "clients">,
  call: Requesting,
  { type, name }: ObjectReference,
): Promise<string | undefined> {
  if (type === "voucher") {
    const [loaded] = await findVouchers(deps, call, [name]);
    return loaded;
  }
  if (type === "reward_assignment") {
    const [loaded] = await resolveRewardAssignments(deps, call, [name]);
    return loaded;
  }
  const { campaigns, tiers } = await deps.clients.resolveCampaigns(
    {
      projectId: call.project.id,
      ...(type === "campaign"
        ? { campaignIds: [name], campaignNames: [name] }
        : { tierIds: [name] }),
    },
    call,
  );
  if (type === "promotion_tier") return tiers.find(({ id }) => id === name)?.id;
  const loaded =
    campaigns.find(({ id }) => id === name) ?? campaigns.find((it) => it.name === name);
  return loaded?.id;
}

/** Ids of those objects that exist. */
export async function findExistingObjects(
  deps: Pick<Deps, "clients">,
  call: Requesting,
  objects: readonly { readonly object_type: string; readonly object_id: string }[],
): Promise<ReadonlySet<string>> {
  const idsOf = (type: ObjectType): string[] =>
    objects.filter((it) => it.object_type === type).map((it) => it.object_id);
  const campaignIds = idsOf("campaign");
  const tierIds = idsOf("promotion_tier");
  const [vouchers, rewards, { campaigns, tiers }] = await Promise.all([
    findVouchers(deps, call, idsOf("voucher")),
    resolveRewardAssignments(deps, call, idsOf("reward_assignment")),
    campaignIds.length + tierIds.length === 0
      ? { campaigns: [], tiers: [] }
      : deps.clients.resolveCampaigns({ projectId: call.project.id, campaignIds, tierIds }, call),
  ]);
  return new Set([
    ...vouchers,
    ...rewards,
    ...campaigns.map(({ id }) => id),
    ...tiers.map(({ id }) => id),
  ]);
}

async function resolveRewardAssignments(
  { clients }: Pick<Deps, "clients">,
  call: Requesting,
  ids: readonly string[],
): Promise<readonly string[]> {
  const results = await Promise.all(
    ids.map((assignmentId) =>
      clients.resolveRewardAssignment(
        {
          $typeName: "scrip.loyalty.v1.RewardAssignmentQuery",
          projectId: call.project.id,
          assignmentId,
        },
        call,
      ),
    ),
  );
  return results.flatMap(({ assignment }) => assignment?.id ?? []);
}

async function findVouchers(
  { clients }: Pick<Deps, "clients">,
  call: Requesting,
  codes: readonly string[],
): Promise<readonly string[]> {
  const questions = chunksOf(codes, MAX_CODES).map((some) =>
    clients.loadVouchers(
      {
        $typeName: "scrip.voucher.v1.VoucherQuery",
        projectId: call.project.id,
        codes: some,
      },
      call,
    ),
  );
  const results = await Promise.all(questions);
  return results.flatMap(({ vouchers }) => vouchers.flatMap(({ voucher }) => voucher?.id ?? []));
}
