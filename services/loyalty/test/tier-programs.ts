import { fromBinary } from "@bufbuild/protobuf";
import { newId } from "@scrip/ids";
import { LoyaltyTierChangedSchema } from "@scrip/proto/scrip/events/v1/loyalty_tiers_pb";
import type { EventVoucher } from "@scrip/proto/scrip/loyalty/v1/custom_events_pb";
import type { NewLoyaltyTierSchema } from "@scrip/proto/scrip/loyalty/v1/tiers_pb";

import { createDeps } from "../src/deps.ts";
import { onPointsMoved } from "../src/events/on-points-moved.ts";
import { CUSTOMERS_TOPIC, POINTS_TOPIC } from "../src/events/topics.ts";
import { runDueNights } from "../src/jobs/nightly.ts";
import { movePoints } from "../src/points/move-points.ts";
import { deliveryFrom, type Init, NOON } from "./builders.ts";
import type { Loyalty } from "./deps.ts";
import { earningIn, type Rule, storeProgram } from "./earning-programs.ts";

export const BRONZE = { name: "Bronze", points: { from: 0n, to: 99n } };
export const SILVER = { name: "Silver", points: { from: 100n, to: 499n } };
export const GOLD = { name: "Gold", points: { from: 500n } };

type Options = {
  readonly policy?: Readonly<Record<string, unknown>> | null;
  readonly rules?: Rule[];
};

/** Programs with tiers, and the consumers that follow them. */
export function tiersIn(loyalty: Loyalty) {
  const { db, tiers } = loyalty;
  const deps = createDeps(db);
  const { earn, setUp } = earningIn(loyalty);
  const consume = onPointsMoved(deps);

  /** A program with a sandbox clock, tiers, and its consumers. */
  async function program(
    levels: readonly Init<typeof NewLoyaltyTierSchema>[],
    {
      policy = null,
      rules = [{ event: "viewed", loyalty: { type: "FIXED", points: 1n } }],
    }: Options = {},
  ) {
    const base = await setUp(rules);
    const { projectId, campaignId, call } = base;
    await storeProgram(db, {
      projectId,
      id: campaignId,
      tiersExpiration: policy,
      expirationRules: null,
    });
    let now = NOON;
    const setClock = async (date: string): Promise<void> => {
      now = Date.parse(`${date}T12:00:00Z`);
      await db.query(
        `insert into project (project_id, version, deleted, time_zone, first_weekday, case_sensitive_codes, sandbox_now)
         values ($1, 1, false, 'UTC', 1, true, $2)
             on conflict (project_id) do update set sandbox_now = excluded.sandbox_now`,
        [projectId, new Date(now)],
      );
      await runDueNights(deps, { projectId, timeZone: "UTC", now });
      await deliver();
    };
    /** Delivers what the service published, like its relay, until nothing is left. */
    const deliver = async (): Promise<void> => {
      for (;;) {
        const { rows } = await db.query<{
          id: string;
          topic: string;
          key: string;
          type: string;
          payload: Uint8Array;
        }>("delete from outbox where project_id = $1 returning id, topic, key, type, payload", [
          projectId,
        ]);
        if (rows.length === 0) return;
        const events = rows
          .toSorted((a, b) => (a.id < b.id ? -1 : 1))
          .map((row) => ({ ...row, projectId, headers: {}, occurredAt: new Date() }));
        for (const event of events) {
          if (event.type === LoyaltyTierChangedSchema.typeName) {
            const { change, tier, previous, expirationDate, date } = fromBinary(
              LoyaltyTierChangedSchema,
              event.payload,
            );
            const at = new Date(Number(date?.seconds ?? 0n) * 1_000).toISOString().slice(0, 10);
            changes.push(
              [
                at,
                change,
                (tier ?? previous)?.name,
                ...(expirationDate === undefined ? [] : [expirationDate]),
              ].join(" "),
            );
          }
        }
        const delivered = events.map((event) => ({ ...event, redeliveries: 0 }) as never);
        await consume(
          delivered.filter((_, at) => events[at]!.topic === POINTS_TOPIC),
          deliveryFrom(POINTS_TOPIC),
        );
        await earn(delivered.filter((_, at) => events[at]!.topic === CUSTOMERS_TOPIC));
      }
    };
    const changes: string[] = [];
    await setClock("2026-03-01");
    const created =
      levels.length === 0
        ? []
        : (await tiers.createLoyaltyTiers({ campaignId, tiers: [...levels] }, call)).tiers;
    await deliver();
    return {
      ...base,
      created,
      changes,
      setClock,
      deliver,
      move: async (cardId: string, points: bigint) => {
        await db.transaction((tx) =>
          movePoints(tx, deps, [
            {
              card: { projectId, cardId, initialPoints: 0n, campaignId },
              type: points > 0n ? "POINTS_ADDITION" : "POINTS_REMOVAL",
              points: points > 0n ? points : -points,
              cause: newId("vtx"),
              at: now,
              expiredBefore: new Date(now).toISOString().slice(0, 10),
            },
          ]),
        );
        await deliver();
      },
      tierOf: async (cardId: string) => {
        const voucher = voucherOf(cardId, campaignId);
        const { data } = await tiers.listMemberTiers({ memberId: cardId, voucher }, call);
        return data[0];
      },
    };
  }

  return { program, consume, deps };
}

export const voucherOf = (id: string, campaignId: string): EventVoucher => ({
  $typeName: "scrip.loyalty.v1.EventVoucher",
  id,
  code: id,
  campaignId,
  isLoyaltyCard: true,
  isReferralCode: false,
});
