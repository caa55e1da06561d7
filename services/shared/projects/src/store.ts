import { timestampMs } from "@bufbuild/protobuf/wkt";
import {
  batchOf,
  buildStatement,
  column,
  type ColumnTable,
  excludedAssignments,
  type Queryable,
  textArray,
} from "@scrip/postgres";
import type { ProjectChanged } from "@scrip/proto/scrip/events/v1/projects_pb";
import type { ProjectState } from "@scrip/rpc";

type ProjectRow = {
  readonly project_id: string;
  readonly version: bigint;
  readonly deleted: boolean;
  readonly time_zone: string;
  readonly first_weekday: number;
  readonly case_sensitive_codes: boolean;
  readonly default_code_config: string | null;
  readonly sandbox_now: Date | null;
  readonly webhook_events: readonly string[];
  readonly has_earning_rules: boolean;
  readonly cancel_pending_points_on_order_cancel: boolean;
};

const changeableColumns: ColumnTable<ProjectChanged> = {
  version: column.int8(({ version }) => version),
  deleted: column.bool(({ deleted }) => deleted),
  time_zone: column.text(({ timeZone }) => timeZone),
  first_weekday: column.int4(({ firstWeekday }) => firstWeekday),
  case_sensitive_codes: column.bool(({ caseSensitiveCodes }) => caseSensitiveCodes),
  default_code_config: column.text(({ defaultCodeConfig }) => defaultCodeConfig ?? null),
  sandbox_now: column.timestamp(({ sandboxNow }) => (sandboxNow ? timestampMs(sandboxNow) : null)),
  webhook_events: column.json(({ webhookEvents }) => JSON.stringify(webhookEvents)),
  has_earning_rules: column.bool(({ hasEarningRules }) => hasEarningRules),
  cancel_pending_points_on_order_cancel: column.bool(
    ({ cancelPendingPointsOnOrderCancel }) => cancelPendingPointsOnOrderCancel,
  ),
};

const saveStatement = buildStatement({
  parts: {
    events: batchOf<ProjectChanged>({
      project_id: column.text(({ projectId }) => projectId),
      ...changeableColumns,
    }),
  },
  text: ({ events }) =>
    `insert into project (${events.columns})
     select * from ${events.rows("event")} order by project_id
         on conflict (project_id) do update
        set ${excludedAssignments(changeableColumns)}
      where project.version <= excluded.version`,
});

/** Stores each project unless a newer version is stored already. */
export async function saveProjects(
  db: Queryable,
  projects: readonly ProjectChanged[],
): Promise<void> {
  await db.query(saveStatement({ events: projects }));
}

export async function findProjects(
  db: Queryable,
  ids: readonly string[],
): Promise<ReadonlyMap<string, ProjectState>> {
  const { rows } = await db.query<ProjectRow>({
    name: "project_find",
    planning: "indexLookups",
    text: `select project_id, version, deleted, time_zone, first_weekday, case_sensitive_codes,
                  default_code_config, sandbox_now, webhook_events, has_earning_rules,
                  cancel_pending_points_on_order_cancel
             from project where project_id = any($1::text[])`,
    values: [textArray(ids)],
  });
  return new Map(rows.map((row) => [row.project_id, stateFromRow(row)]));
}

const stateFromRow = (row: ProjectRow): ProjectState => ({
  project: {
    id: row.project_id,
    version: row.version,
    timeZone: row.time_zone,
    firstWeekday: row.first_weekday,
    caseSensitiveCodes: row.case_sensitive_codes,
    ...(row.default_code_config !== null && { codeConfig: row.default_code_config }),
    ...(row.webhook_events.length > 0 && { webhookEvents: row.webhook_events }),
    ...(row.has_earning_rules && { hasEarningRules: true }),
    ...(row.cancel_pending_points_on_order_cancel && { cancelPendingPointsOnOrderCancel: true }),
  },
  sandboxNow: row.sandbox_now === null ? null : row.sandbox_now.getTime(),
  deleted: row.deleted,
});
