import { assertIdentifier } from "./identifier.ts";

/**
 * The role of a service for statements of one project: a policy of each table limits it to the rows whose `project_id`
 * is the setting `scrip.project` (services/decisions/0082-row-level-security-for-composed-statements.md).
 */
export const tenantRoleOf = (role: string): string => `${role}_tenant`;

/** The setting that the policies compare `project_id` with. Unset, no row is visible. */
export const PROJECT_SETTING = "scrip.project";

/** Ids that need no quotes, neither in SQL nor in the options of a connection. */
const PROJECT_ID = /^[\w.:-]{1,128}$/;

export function assertProjectId(projectId: string): void {
  if (!PROJECT_ID.test(projectId))
    throw new RangeError(`${JSON.stringify(projectId)} is not the id of a project`);
}

/** SQL: until the transaction ends, only the rows of the project are visible. */
export function becomeTenant(role: string, projectId: string): string {
  assertIdentifier(role);
  assertProjectId(projectId);
  return `set local role ${tenantRoleOf(role)}; set local ${PROJECT_SETTING} = '${projectId}'`;
}

/** SQL: back to the role of the service, in the same transaction. */
export const becomeService = (role: string): string =>
  `set local role ${role}; set local ${PROJECT_SETTING} = ''`;
