import { buildStatement, column, type ColumnTable, type Queryable, rowOf } from "@scrip/postgres";

import type { ClientFeature, CodeConfig, Project } from "../domain/project.ts";

export type ProjectRow = {
  project_id: string;
  version: bigint;
  name: string;
  description: string | null;
  time_zone: string;
  currency: string | null;
  dial_code: string | null;
  case_sensitive_codes: boolean;
  default_code_config: CodeConfig | null;
  client_trusted_domains: string[];
  client_features: ClientFeature[];
  sandbox: boolean;
  sandbox_now: Date | null;
  webhook_version: string | null;
  webhook_events: string[];
  has_earning_rules: boolean;
  cancel_pending_points_on_order_cancel: boolean;
  api_version: string | null;
  created_at: Date;
  updated_at: Date | null;
  first_weekday: number;
};

/** Columns that never change. */
const permanentColumns: ColumnTable<Project> = {
  project_id: column.text(({ id }) => id),
  case_sensitive_codes: column.bool(({ caseSensitiveCodes }) => caseSensitiveCodes),
  sandbox: column.bool(({ sandbox }) => sandbox),
  created_at: column.timestamp(({ createdAt }) => createdAt.getTime()),
};

const editableColumns: ColumnTable<Project> = {
  version: column.int8(({ version }) => version),
  name: column.text(({ name }) => name),
  description: column.text(({ description }) => description),
  time_zone: column.text(({ timeZone }) => timeZone),
  currency: column.text(({ currency }) => currency),
  dial_code: column.text(({ dialCode }) => dialCode),
  default_code_config: column.json(
    ({ defaultCodeConfig }) => defaultCodeConfig && JSON.stringify(defaultCodeConfig),
  ),
  client_trusted_domains: column.single("text[]", (project) => project.clientTrustedDomains),
  client_features: column.single("text[]", ({ clientFeatures }) => clientFeatures),
  sandbox_now: column.timestamp(({ sandboxNow }) => sandboxNow),
  webhook_version: column.text(({ webhookVersion }) => webhookVersion),
  webhook_events: column.single("text[]", ({ webhookEvents }) => webhookEvents),
  has_earning_rules: column.bool(({ hasEarningRules }) => hasEarningRules),
  cancel_pending_points_on_order_cancel: column.bool(
    ({ cancelPendingPointsOnOrderCancel }) => cancelPendingPointsOnOrderCancel,
  ),
  api_version: column.text(({ apiVersion }) => apiVersion),
  updated_at: column.timestamp(({ updatedAt }) => updatedAt && updatedAt.getTime()),
  first_weekday: column.single("smallint", ({ firstWeekday }) => firstWeekday),
};

const COLUMNS = Object.keys({ ...permanentColumns, ...editableColumns }).join(", ");

const insertStatement = buildStatement({
  parts: { permanent: rowOf(permanentColumns), editable: rowOf(editableColumns) },
  text: ({ permanent, editable }) =>
    `insert into project (${permanent.columns}, ${editable.columns})
     values (${permanent.values}, ${editable.values})`,
});

export async function insertProject(tx: Queryable, project: Project): Promise<void> {
  await tx.query(insertStatement({ permanent: project, editable: project }));
}

const updateStatement = buildStatement({
  parts: {
    id: rowOf<Project>({ project_id: column.text(({ id }) => id) }),
    editable: rowOf(editableColumns),
  },
  text: ({ id, editable }) =>
    `update project set ${editable.assignments} where project_id = ${id.value("project_id")}`,
});

/** Writes all columns that can change. The row must be locked. */
export async function updateProject(tx: Queryable, project: Project): Promise<void> {
  await tx.query(updateStatement({ id: project, editable: project }));
}

export async function findProject(db: Queryable, id: string): Promise<Project | undefined> {
  const { rows } = await db.query<ProjectRow>(
    `select ${COLUMNS} from project where project_id = $1 and deleted_at is null`,
    [id],
  );
  return rows[0] && projectFromRow(rows[0]);
}

/** Reads a project and locks its row, so that concurrent changes are serialized. */
export async function lockProject(tx: Queryable, id: string): Promise<Project | undefined> {
  const { rows } = await tx.query<ProjectRow>(
    `select ${COLUMNS} from project
      where project_id = $1 and deleted_at is null
        for no key update`,
    [id],
  );
  return rows[0] && projectFromRow(rows[0]);
}

/** The times of creation that a list is limited to, exclusive; null: no bound. */
export type CreatedBetween = { readonly after: Date | null; readonly before: Date | null };

const IN_RANGE = `deleted_at is null
        and ($1::timestamptz is null or created_at > $1)
        and ($2::timestamptz is null or created_at < $2)`;

export async function listProjects(
  db: Queryable,
  { after, before }: CreatedBetween,
  page: { readonly limit: number; readonly offset: number },
): Promise<readonly Project[]> {
  const { rows } = await db.query<ProjectRow>(
    `select ${COLUMNS} from project
      where ${IN_RANGE}
      order by created_at desc, project_id desc
      limit $3 offset $4`,
    [after, before, page.limit, page.offset],
  );
  return rows.map(projectFromRow);
}

export async function countProjects(
  db: Queryable,
  { after, before }: CreatedBetween = { after: null, before: null },
): Promise<bigint> {
  const { rows } = await db.query<{ total: bigint }>(
    `select count(*) as total from project where ${IN_RANGE}`,
    [after, before],
  );
  return rows[0]?.total ?? 0n;
}

/**
 * Deletes a project: its keys are removed, its row stays as a tombstone with a new version. Returns
 * the deleted project; undefined if there is none.
 */
export async function deleteProject(
  tx: Queryable,
  id: string,
  at: Date,
): Promise<Project | undefined> {
  const { rows } = await tx.query<ProjectRow>(
    `update project set deleted_at = $2, version = version + 1
      where project_id = $1 and deleted_at is null
  returning ${COLUMNS}`,
    [id, at],
  );
  if (rows[0] === undefined) return undefined;
  // Tokens are deleted with their keys.
  await tx.query("delete from api_key where project_id = $1", [id]);
  return projectFromRow(rows[0]);
}

/**
 * Locks projects, deleted ones included, that were last published this long ago or never. Rows that
 * another process locks are skipped.
 */
export async function lockUnpublished(
  tx: Queryable,
  afterHours: number,
  limit: number,
): Promise<readonly (Project & { readonly deleted: boolean })[]> {
  const { rows } = await tx.query<ProjectRow & { deleted: boolean }>(
    `select ${COLUMNS}, deleted_at is not null as deleted
       from project
      where published_at is null
         or published_at < clock_timestamp() - $1 * interval '1 hour'
      limit $2
        for no key update skip locked`,
    [afterHours, limit],
  );
  return rows.map((row) => ({ ...projectFromRow(row), deleted: row.deleted }));
}

/** The rows must be locked. */
export async function markPublished(tx: Queryable, ids: readonly string[]): Promise<void> {
  await tx.query(
    "update project set published_at = clock_timestamp() where project_id = any($1::text[])",
    [ids],
  );
}

export function projectFromRow(row: ProjectRow): Project {
  return {
    id: row.project_id,
    version: row.version,
    name: row.name,
    description: row.description,
    timeZone: row.time_zone,
    currency: row.currency,
    dialCode: row.dial_code,
    caseSensitiveCodes: row.case_sensitive_codes,
    defaultCodeConfig: row.default_code_config,
    clientTrustedDomains: row.client_trusted_domains,
    clientFeatures: row.client_features,
    sandbox: row.sandbox,
    sandboxNow: row.sandbox_now === null ? null : row.sandbox_now.getTime(),
    webhookVersion: row.webhook_version,
    webhookEvents: row.webhook_events,
    hasEarningRules: row.has_earning_rules,
    cancelPendingPointsOnOrderCancel: row.cancel_pending_points_on_order_cancel,
    apiVersion: row.api_version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    firstWeekday: row.first_weekday,
  };
}
