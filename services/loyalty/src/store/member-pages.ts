import type { Queryable } from "@scrip/postgres";

export type Program = { readonly projectId: string; readonly campaignId: string };

/** The cards of a program between two ids: behind `after`, up to `last`; null: up to the end. */
export type MemberPage = { readonly after: string; readonly last: string | null };

/** All published cards of a program, in ranges of `cardsOfPage()` cards, which is called before each range. */
export async function* pagesOfMembers(
  tx: Queryable,
  { projectId, campaignId }: Program,
  cardsOfPage: () => number,
): AsyncGenerator<MemberPage> {
  for (let after: string | null = ""; after !== null;) {
    const { rows }: { readonly rows: readonly { card_id: string }[] } = await tx.query<{
      card_id: string;
    }>(
      `select card_id from loyalty_member where project_id = $1 and campaign_id = $2 and card_id > $3
        order by card_id offset $4 limit 1`,
      [projectId, campaignId, after, cardsOfPage() - 1],
    );
    const last: string | null = rows[0]?.card_id ?? null;
    yield { after, last };
    after = last;
  }
}

/** The condition that a card is of this page, and its values; `first` is the number of their first parameter. */
export const conditionOf = (
  { after, last }: MemberPage,
  first: number,
): { readonly isOfPage: (cardId: string) => string; readonly values: readonly string[] } =>
  last === null
    ? { isOfPage: (cardId) => `${cardId} > $${first}`, values: [after] }
    : {
        isOfPage: (cardId) => `${cardId} > $${first} and ${cardId} <= $${first + 1}`,
        values: [after, last],
      };
