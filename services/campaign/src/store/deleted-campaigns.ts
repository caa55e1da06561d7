import type { Queryable } from "@scrip/postgres";

/** Hides a campaign and ends its lock. A permanent deletion frees the name, which nothing shows any more. */
export async function markCampaignDeleted(
  tx: Queryable,
  projectId: string,
  deletion: { readonly id: string; readonly at: number; readonly permanent: boolean },
): Promise<void> {
  await tx.query(
    `update campaign
        set deleted_at = $3, turn = null, name = case when $4 then id else name end
      where project_id = $1 and id = $2`,
    [projectId, deletion.id, new Date(deletion.at), deletion.permanent],
  );
}

/** Frees the name of a deleted campaign; returns its number of vouchers, or undefined for one that is not deleted. */
export async function freeName(
  tx: Queryable,
  projectId: string,
  id: string,
): Promise<bigint | undefined> {
  const { rows } = await tx.query<{ vouchers_count: bigint }>(
    `update campaign
        set name = id
      where project_id = $1 and id = $2 and deleted_at is not null
     returning vouchers_count`,
    [projectId, id],
  );
  return rows[0]?.vouchers_count;
}
