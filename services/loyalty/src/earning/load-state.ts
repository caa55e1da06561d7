import type { Queryable } from "@scrip/postgres";
import type { Metadata, TimeContext } from "@scrip/rules";

import type { Deps } from "../deps.ts";
import type { EarningRule } from "../domain/earning/earning-rule.ts";
import type { EarningState, EarningTrigger } from "../domain/earning/grants.ts";
import { keyOf } from "../domain/key.ts";
import type { LoyaltyMember } from "../domain/loyalty-program.ts";
import type { ProjectEarning } from "../loading/earning-definitions.ts";
import { evaluateSegments, type Memberships } from "../segment/evaluate-segments.ts";
import { findCustomersBy } from "../store/customers.ts";
import { findMembersOfCustomers } from "../store/loyalty-members.ts";
import { findPrograms } from "../store/loyalty-programs.ts";
import { DEFAULT_CALENDAR, findCalendars } from "../store/project-calendars.ts";
import { findHolderTiers, loadTiers } from "../tiers/holder-tiers.ts";

/** The data that a decision on a trigger needs besides its rules. */
export type TriggerState = EarningState & { readonly customerExists: boolean };

type Trigger = { readonly trigger: EarningTrigger; readonly rules: readonly EarningRule[] };

/** Loads the states of a batch of triggers with one statement per table; their order is that of the triggers. */
export async function loadStates(
  tx: Queryable,
  deps: Deps,
  triggers: readonly Trigger[],
  definitions: ReadonlyMap<string, ProjectEarning>,
): Promise<readonly TriggerState[]> {
  const owners = triggers.map(({ trigger: { projectId, customerId } }) => ({
    projectId,
    customerId,
  }));
  const [programs, members, customers, calendars] = await loadTables(tx, triggers, owners);
  const known = new Map(customers.map((one) => [keyOf(one.projectId, one.id), one]));
  const programsOf = Map.groupBy(programs.values(), ({ projectId }) => projectId);
  const times = triggers.map(({ trigger }): TimeContext => {
    const { timeZone } = calendars.get(trigger.projectId) ?? DEFAULT_CALENDAR;
    return { now: trigger.at, timeZone };
  });
  // A snapshot from before the first rule of each event, so that all rules see the same tier.
  const cards = [...members.values()].flat();
  const tiers = await findHolderTiers(tx, await loadTiers(deps, cards), cards);
  const segments = await segmentsOf(deps, triggers, { definitions, times });
  return triggers.map(({ trigger, rules }, index) => {
    const { projectId, customerId, order, eventMetadata } = trigger;
    const customer = known.get(keyOf(projectId, customerId));
    const held = members.get(keyOf(projectId, customerId)) ?? [];
    const tierOf = ({ cardId }: LoyaltyMember) => tiers.get(keyOf(projectId, cardId)) ?? null;
    return {
      rules,
      conditionOf: (id) => definitions.get(projectId)?.conditions.get(id),
      programs: new Map((programsOf.get(projectId) ?? []).map((one) => [one.id, one])),
      members: held,
      subject: {
        order,
        eventMetadata,
        customerMetadata: (customer?.metadata ?? {}) as Metadata,
        segmentIds: segments.get(index)?.segments.map(({ id }) => id) ?? [],
        unreadableSegmentIds: segments.get(index)?.unreadable ?? [],
        tierIds: held.flatMap((member) => tierOf(member)?.id ?? []),
        time: times[index] ?? { now: trigger.at, timeZone: "UTC" },
      },
      tierOf,
      customerExists: customer !== undefined,
    };
  });
}

type Owner = { readonly projectId: string; readonly customerId: string };

/** Programs, members, customers and calendars of a batch. */
function loadTables(tx: Queryable, triggers: readonly Trigger[], owners: readonly Owner[]) {
  const programKeys = triggers.flatMap(({ trigger: { projectId }, rules }) =>
    rules.map(({ campaignId }) => ({ projectId, campaignId })),
  );
  return Promise.all([
    findPrograms(
      tx,
      distinct(programKeys, ({ projectId, campaignId }) => keyOf(projectId, campaignId)),
    ),
    findMembersOfCustomers(tx, owners),
    findCustomersBy(
      tx,
      "id",
      owners.map(({ projectId, customerId: value }) => ({
        projectId,
        column: "id" as const,
        value,
      })),
    ),
    findCalendars(
      tx,
      owners.map(({ projectId }) => projectId),
    ),
  ]);
}

const distinct = <Item>(
  items: readonly Item[],
  textOf: (item: Item) => string,
): readonly Item[] => [...new Map(items.map((item) => [textOf(item), item])).values()];

/** Segments of customers, by the position of the trigger; only where a validation rule reads them. */
async function segmentsOf(
  deps: Deps,
  triggers: readonly Trigger[],
  {
    definitions,
    times,
  }: {
    readonly definitions: ReadonlyMap<string, ProjectEarning>;
    readonly times: readonly TimeContext[];
  },
): Promise<ReadonlyMap<number, Memberships | undefined>> {
  const reading = triggers.flatMap(({ trigger, rules }, index) => {
    const conditions = definitions.get(trigger.projectId)?.conditions;
    const readsSegments = rules.some(({ validationRuleId }) =>
      [...(conditions?.get(validationRuleId ?? "")?.rules.values() ?? [])].some(
        ({ name }) => name === "customer.segment",
      ),
    );
    return readsSegments ? [{ trigger, index }] : [];
  });
  if (reading.length === 0) return new Map();
  const found = await evaluateSegments(
    deps,
    reading.map(({ trigger: { projectId, customerId }, index }) => ({
      projectId,
      customerId,
      input: undefined,
      time: times[index] ?? { now: 0, timeZone: "UTC" },
    })),
  );
  return new Map(reading.map(({ index }, at) => [index, found[at]]));
}
