import { batchOf, buildStatement, column, type Queryable, textArray } from "@scrip/postgres";

import { keyOf } from "../domain/key.ts";
import type { CardState } from "../domain/loyalty-program.ts";
import type { CardKey } from "./loyalty-members.ts";

/** The state of a card as of a version of its voucher. */
export type VersionedState = CardKey & CardState & { readonly version: bigint };

/** Stores the newest state of each card; an older one changes nothing. */
export async function saveCardStates(
  tx: Queryable,
  states: readonly VersionedState[],
): Promise<void> {
  const newest = new Map<string, VersionedState>();
  for (const state of states) {
    const key = keyOf(state.projectId, state.cardId);
    const before = newest.get(key);
    if (before === undefined || before.version < state.version) newest.set(key, state);
  }
  if (newest.size > 0) await tx.query(saveStatement({ states: [...newest.values()] }));
}

const saveStatement = buildStatement({
  parts: {
    states: batchOf<VersionedState>({
      project_id: column.text(({ projectId }) => projectId),
      card_id: column.text(({ cardId }) => cardId),
      version: column.int8(({ version }) => version),
      active: column.bool(({ active }) => active),
      start_date: column.timestamp(({ startDate }) => startDate),
      expiration_date: column.timestamp(({ expirationDate }) => expirationDate),
    }),
  },
  text: ({ states }) => `
    insert into card_state as stored (${states.columns})
    select ${states.columns} from ${states.rows("item")} order by project_id, card_id
        on conflict (project_id, card_id) do update
       set version = excluded.version, active = excluded.active, start_date = excluded.start_date,
           expiration_date = excluded.expiration_date
     where stored.version < excluded.version`,
});

export async function deleteCardStates(tx: Queryable, cards: readonly CardKey[]): Promise<void> {
  if (cards.length === 0) return;
  await tx.query(
    `delete from card_state
      where (project_id, card_id) in (select * from unnest($1::text[], $2::text[]))`,
    [
      textArray(cards.map(({ projectId }) => projectId)),
      textArray(cards.map(({ cardId }) => cardId)),
    ],
  );
}
