import type { Loyalty } from "./deps.ts";
import { earningIn } from "./earning-programs.ts";
import { tiersIn } from "./tier-programs.ts";

export type AutoRedeemClub = Awaited<ReturnType<ReturnType<typeof autoRedeemIn>["setUp"]>>;

/** Programs with a reward that is redeemed automatically. */
export function autoRedeemIn(loyalty: Loyalty) {
  const { db, rewards } = loyalty;
  const { join } = earningIn(loyalty);
  const { program } = tiersIn(loyalty);

  /** A program that redeems a product for 100 points automatically, and a member. */
  async function setUp({
    stock,
    levels = [],
    policy = null,
  }: {
    readonly stock?: bigint;
    readonly levels?: Parameters<typeof program>[0];
    readonly policy?: Readonly<Record<string, unknown>> | null;
  } = {}) {
    const club = await program(levels, { policy });
    const { projectId, campaignId, call } = club;
    const parameters = { product: { id: "prod_1" } };
    const { id: rewardId } = await rewards.createReward(
      { type: "MATERIAL", parameters, ...(stock !== undefined && { stock }) },
      call,
    );
    const offer = () =>
      rewards.createLoyaltyRewards(
        {
          campaignId,
          rewards: [
            { reward: rewardId, parameters: { loyalty: { points: 100n, autoRedeem: true } } },
          ],
        },
        call,
      );
    const { cardId, customerId } = await join(club);
    return {
      ...club,
      rewardId,
      offer,
      cardId,
      customerId,
      holds: async () => {
        const { rows } = await db.query<{
          id: string;
          points: bigint;
          quantity: bigint;
          status: string;
        }>(
          "select id, points, quantity, status from points_spend where project_id = $1 order by id",
          [projectId],
        );
        return rows;
      },
      redeemed: async () => (await rewards.getReward({ rewardId }, call)).redeemed,
    };
  }

  return { setUp };
}
