import type { CardService } from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import { type Voucher, VoucherType } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import type { Call, Client } from "@scrip/rpc";

import { rowKey } from "../domain/usage.ts";
import { type CardBalances, withCardBalances } from "../mapping/points.ts";

type Cards = { readonly cards: Client<typeof CardService> };

type CardQuery = {
  readonly projectId: string;
  readonly cardId: string;
  readonly initialPoints: bigint;
};

/** As many as one question may name. */
const MAX_CARDS = 1000;

/** What cards have, by `rowKey` of project and voucher. Nothing is asked where there are none. */
export async function loadCardBalances(
  { cards }: Cards,
  questions: readonly CardQuery[],
  call: Call,
): Promise<ReadonlyMap<string, CardBalances>> {
  const chunks = Array.from({ length: Math.ceil(questions.length / MAX_CARDS) }, (_, at) =>
    questions.slice(at * MAX_CARDS, (at + 1) * MAX_CARDS),
  );
  const answers = await Promise.all(
    chunks.map(async (chunk) => {
      const names = chunk.map((one) => ({
        $typeName: "scrip.loyalty.v1.CardReference" as const,
        ...one,
      }));
      const request = {
        $typeName: "scrip.loyalty.v1.GetCardBalancesRequest" as const,
        cards: names,
      };
      return (await cards.getCardBalances(request, call)).balances;
    }),
  );
  const figures = answers.flat();
  return new Map(
    questions.flatMap(({ projectId, cardId }, index) => {
      const found = figures[index];
      return found === undefined ? [] : [[rowKey(projectId, cardId), found]];
    }),
  );
}

/** Vouchers as they are answered: a card with what it has now. */
export async function withCurrentBalances(
  deps: Cards,
  vouchers: readonly Voucher[],
  call: Call,
): Promise<readonly Voucher[]> {
  const projectId = call.project.id;
  const questions = vouchers.flatMap(({ id, type, loyaltyCard }) =>
    type === VoucherType.LOYALTY_CARD && loyaltyCard?.points !== undefined
      ? [{ projectId, cardId: id, initialPoints: loyaltyCard.points }]
      : [],
  );
  if (questions.length === 0) return vouchers;
  const found = await loadCardBalances(deps, questions, call);
  return vouchers.map((voucher) => {
    const figures = found.get(rowKey(projectId, voucher.id));
    return figures === undefined ? voucher : withCardBalances(voucher, figures);
  });
}

export async function withCurrentBalance(
  deps: Cards,
  voucher: Voucher,
  call: Call,
): Promise<Voucher> {
  const [answered] = await withCurrentBalances(deps, [voucher], call);
  return answered ?? voucher;
}
