import type { Queryable } from "@scrip/postgres";

import type { ClientFeature, CodeConfig, Project } from "../domain/project.ts";

export type ProjectRow = {
  project_id: string;
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
  api_version: string | null;
  created_at: Date;
  updated_at: Date | null;
  first_weekday: number;
};

const COLUMNS = `project_id, name, description, time_zone, currency, dial_code,
       case_sensitive_codes, default_code_config, client_trusted_domains, client_features,
       sandbox, sandbox_now, webhook_version, api_version, created_at, updated_at, first_weekday`;

export async function insertProject(tx: Queryable, project: Project): Promise<void> {
  await tx.query(
    `insert into project (${COLUMNS})
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`,
    projectToRow(project),
  );
}

/** Writes all columns that can change. The row must be locked. */
export async function updateProject(tx: Queryable, project: Project): Promise<void> {
  const row = projectToRow(project);
  await tx.query(
    `update project
        set name = $2, description = $3, time_zone = $4, currency = $5, dial_code = $6,
            default_code_config = $7, client_trusted_domains = $8, client_features = $9,
            sandbox_now = $10, webhook_version = $11, api_version = $12, updated_at = $13,
            first_weekday = $14
      where project_id = $1`,
    // case_sensitive_codes, sandbox and created_at never change.
    [...row.slice(0, 6), ...row.slice(7, 10), ...row.slice(11, 14), ...row.slice(15)],
  );
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

export async function listProjects(
  db: Queryable,
  page: { readonly limit: number; readonly offset: number },
): Promise<readonly Project[]> {
  const { rows } = await db.query<ProjectRow>(
    `select ${COLUMNS} from project
      where deleted_at is null
      order by created_at desc, project_id desc
      limit $1 offset $2`,
    [page.limit, page.offset],
  );
  return rows.map(projectFromRow);
}

export async function countProjects(db: Queryable): Promise<bigint> {
  const { rows } = await db.query<{ total: bigint }>(
    "select count(*) as total from project where deleted_at is null",
  );
  return rows[0]?.total ?? 0n;
}

/** Deletes a project: its keys are removed, its row stays as a tombstone. */
export async function deleteProject(tx: Queryable, id: string, at: Date): Promise<boolean> {
  const { rowCount } = await tx.query(
    "update project set deleted_at = $2 where project_id = $1 and deleted_at is null",
    [id, at],
  );
  if (rowCount === 0) return false;
  // Tokens are deleted with their keys.
  await tx.query("delete from api_key where project_id = $1", [id]);
  return true;
}

export function projectFromRow(row: ProjectRow): Project {
  return {
    id: row.project_id,
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
    apiVersion: row.api_version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    firstWeekday: row.first_weekday,
  };
}

/** The values of COLUMNS, in their order. */
function projectToRow(project: Project): unknown[] {
  const { sandboxNow, defaultCodeConfig } = project;
  return [
    project.id,
    project.name,
    project.description,
    project.timeZone,
    project.currency,
    project.dialCode,
    project.caseSensitiveCodes,
    defaultCodeConfig === null ? null : JSON.stringify(defaultCodeConfig),
    project.clientTrustedDomains,
    project.clientFeatures,
    project.sandbox,
    sandboxNow === null ? null : new Date(sandboxNow),
    project.webhookVersion,
    project.apiVersion,
    project.createdAt,
    project.updatedAt,
    project.firstWeekday,
  ];
}
