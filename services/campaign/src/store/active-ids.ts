import type { DefinitionKey, Queryable } from "@scrip/postgres";

/** The active redeemables of a project that need no code of a customer, whatever their dates. */
export type ActiveIds = {
  readonly tierIds: readonly string[];
  readonly stackIds: readonly string[];
  /** The newest STANDALONE campaigns: one public code each. */
  readonly standaloneIds: readonly string[];
};

/** Maximum number of cached STANDALONE campaigns per project. */
const MAX_STANDALONE = 1_000;

/** Loads active ids for the definition cache, which has one key per project. */
export async function findActiveIds(
  db: Queryable,
  keys: readonly DefinitionKey[],
): Promise<readonly ActiveIds[]> {
  const projectIds = keys.map(({ projectId }) => projectId);
  const [tiers, stacks, standalone] = await Promise.all([
    idsByProject(
      db,
      `select t.project_id, t.id
         from promotion_tier t
         join campaign p on p.project_id = t.project_id and p.id = t.campaign_id
          and p.active and p.deleted_at is null
        where t.project_id = any($1::text[]) and t.active
        order by t.hierarchy, t.id`,
      projectIds,
    ),
    idsByProject(
      db,
      `select s.project_id, s.id
         from promotion_stack s
         join campaign p on p.project_id = s.project_id and p.id = s.campaign_id
          and p.active and p.deleted_at is null
        where s.project_id = any($1::text[])
        order by s.id`,
      projectIds,
    ),
    idsByProject(
      db,
      `select p.project_id, p.id
         from unnest($1::text[]) as project (id)
        cross join lateral (
                select project_id, id
                  from campaign
                 where project_id = project.id and type = 'STANDALONE' and active and deleted_at is null
                 order by created_at desc, id desc
                 limit ${MAX_STANDALONE}
              ) p`,
      projectIds,
    ),
  ]);
  return projectIds.map((projectId) => ({
    tierIds: tiers.get(projectId) ?? [],
    stackIds: stacks.get(projectId) ?? [],
    standaloneIds: standalone.get(projectId) ?? [],
  }));
}

async function idsByProject(
  db: Queryable,
  sql: string,
  projectIds: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const { rows } = await db.query<{ project_id: string; id: string }>(sql, [projectIds]);
  const ids = new Map<string, string[]>();
  for (const { project_id: projectId, id } of rows) {
    const own = ids.get(projectId);
    if (own === undefined) ids.set(projectId, [id]);
    else own.push(id);
  }
  return ids;
}
