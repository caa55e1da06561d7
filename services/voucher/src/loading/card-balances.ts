import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { CardService } from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import { type Voucher, VoucherType } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { type Call, chunksOf, type Client } from "@scrip/rpc";

import { rowKey } from "../domain/usage.ts";
import { type CardBalances, withCardBalances } from "../mapping/points.ts";

type Cards = { readonly cards: Client<typeof CardService> };

type CardQuery = {
  readonly projectId: string;
  readonly cardId: string;
  readonly initialPoints: bigint;
};

/** The limit of `GetCardBalances`. */
const MAX_CARDS = 1000;

/** The balances of cards, by `rowKey` of project and voucher. Makes no call without cards. */
export async function loadCardBalances(
  { cards }: Cards,
  queries: readonly CardQuery[],
  call: Call,
  asOf?: Timestamp,
): Promise<ReadonlyMap<string, CardBalances>> {
  const responses = await Promise.all(
    chunksOf(queries, MAX_CARDS).map(async (chunk) => {
      const names = chunk.map((one) => ({
        $typeName: "scrip.loyalty.v1.CardReference" as const,
        ...one,
      }));
      const request = {
        $typeName: "scrip.loyalty.v1.GetCardBalancesRequest" as const,
        cards: names,
        ...(asOf !== undefined && { asOf }),
      };
      return (await cards.getCardBalances(request, call)).balances;
    }),
  );
  const balances = responses.flat();
  return new Map(
    queries.flatMap(({ projectId, cardId }, index) => {
      const found = balances[index];
      return found === undefined ? [] : [[rowKey(projectId, cardId), found]];
    }),
  );
}

/** Loads the balances of the loyalty cards among these vouchers, and returns what adds them to a voucher. */
export async function loadBalancesOf(
  deps: Cards,
  vouchers: readonly Voucher[],
  call: Call,
  asOf?: Timestamp,
): Promise<(voucher: Voucher) => Voucher> {
  const projectId = call.project.id;
  const queries = vouchers.flatMap(({ id, type, loyaltyCard }) =>
    type === VoucherType.LOYALTY_CARD && loyaltyCard?.points !== undefined
      ? [{ projectId, cardId: id, initialPoints: loyaltyCard.points }]
      : [],
  );
  if (queries.length === 0) return (voucher) => voucher;
  const found = await loadCardBalances(deps, queries, call, asOf);
  return (voucher) => {
    const balances = found.get(rowKey(projectId, voucher.id));
    return balances === undefined ? voucher : withCardBalances(voucher, balances);
  };
}

/** Vouchers with the balances of loyalty cards: the current ones, or those of a time. */
export const withCurrentBalances = async (
  deps: Cards,
  vouchers: readonly Voucher[],
  call: Call,
  asOf?: Timestamp,
): Promise<readonly Voucher[]> => vouchers.map(await loadBalancesOf(deps, vouchers, call, asOf));

export const withCurrentBalance = async (
  deps: Cards,
  voucher: Voucher,
  call: Call,
  asOf?: Timestamp,
): Promise<Voucher> => (await loadBalancesOf(deps, [voucher], call, asOf))(voucher);
