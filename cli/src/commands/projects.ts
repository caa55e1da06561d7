import { type Command, Option } from "commander";

import { usageError } from "../cli-error.ts";
import type { Context } from "../context.ts";
import { callManagement, type JsonObject, listAll } from "../http.ts";
import { formatFields, formatTable } from "../output.ts";
import { parseTime } from "../parse-time.ts";
import { confirmed, encode } from "./arguments.ts";

type ProjectOptions = {
  readonly name?: string;
  readonly description?: string;
  readonly timezone?: string;
  readonly currency?: string;
  readonly trustedDomains?: string[];
  readonly set?: string[];
  readonly sandbox?: boolean;
  readonly caseInsensitiveCodes?: boolean;
};

export function addProjects(program: Command, context: Context): void {
  const projects = program
    .command("projects")
    .description("Manage projects, the tenants of an installation.");
  projects
    .command("list")
    .description("List all projects, newest first.")
    .action(() => listProjects(context));
  addSettings(
    projects
      .command("create")
      .description("Create a project; the secrets of its keys are shown only once."),
  )
    .requiredOption("--name <name>", "name of the project")
    .option("--sandbox", "create a sandbox project, whose clock can be set")
    .option("--case-insensitive-codes", "voucher codes ignore case (cannot be changed later)")
    .action((options: ProjectOptions) => createProject(context, options));
  projects
    .command("show")
    .description("Show a project.")
    .argument("<project>", "id of the project")
    .action(async (id: string) => {
      printProject(context, await callManagement(context.settings, "GET", `/${encode(id)}`));
    });
  addSettings(projects.command("update").description("Change the provided fields of a project."))
    .argument("<project>", "id of the project")
    .option("--name <name>", "new name")
    .action((id: string, options: ProjectOptions) => updateProject(context, id, options));
  confirmed(
    projects
      .command("delete")
      .description("Delete a project; its keys and access tokens stop working within 5 seconds."),
  )
    .argument("<project>", "id of the project")
    .action(async (id: string) => {
      await callManagement(context.settings, "DELETE", `/${encode(id)}`);
      context.print({ json: { id, deleted: true }, text: `deleted ${id}` });
    });
  projects
    .command("clock")
    .description("Set the clock of a sandbox project.")
    .argument("<project>", "id of the project")
    .argument("<now>", "ISO 8601 date and time, or `real` for real time")
    .action((id: string, now: string) => setClock(context, id, now));
}

const addSettings = (command: Command): Command =>
  command
    .option("--description <text>", "description")
    .option("--timezone <zone>", "IANA name or GMT offset, such as Europe/Warsaw or GMT+2")
    .option("--currency <code>", "ISO 4217 code")
    .option("--trusted-domains <domain...>", "origins of client-side callers; * for any")
    .addOption(
      new Option(
        "--set <field=value...>",
        "another field of the management API; the value is JSON or text",
      ),
    );

async function listProjects({ settings, print }: Context): Promise<void> {
  const projects = await listAll((query) => callManagement(settings, "GET", query));
  print({
    json: projects,
    text: formatTable(
      ["ID", "NAME", "TIME ZONE", "SANDBOX", "CREATED"],
      projects.map((project) => [
        String(project["id"]),
        String(project["name"]),
        String(project["timezone"]),
        project["sandbox"] === true ? "yes" : "no",
        String(project["created_at"]),
      ]),
    ),
  });
}

async function createProject(context: Context, options: ProjectOptions): Promise<void> {
  const project = await callManagement(context.settings, "POST", "", {
    ...bodyOf(options),
    ...(options.sandbox === true && { sandbox: true }),
    ...(options.caseInsensitiveCodes === true && { case_sensitive_codes: false }),
  });
  printProject(context, project);
  context.note("The app tokens are shown only once: store them now.");
}

async function updateProject(context: Context, id: string, options: ProjectOptions): Promise<void> {
  const body = bodyOf(options);
  if (Object.keys(body).length === 0)
    throw usageError("nothing to change: provide at least one field");
  printProject(context, await callManagement(context.settings, "PUT", `/${encode(id)}`, body));
}

async function setClock(context: Context, id: string, now: string): Promise<void> {
  const time = now === "real" ? null : parseTime(now);
  if (time === undefined) {
    throw usageError(`"${now}" is not an ISO 8601 date and time such as 2030-01-31T12:00:00Z`);
  }
  const body = { now: time?.toISOString() ?? null };
  printProject(
    context,
    await callManagement(context.settings, "PUT", `/${encode(id)}/clock`, body),
  );
}

function bodyOf(options: ProjectOptions): JsonObject {
  const { name, description, timezone, currency, trustedDomains } = options;
  return {
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(timezone !== undefined && { timezone }),
    ...(currency !== undefined && { currency }),
    ...(trustedDomains !== undefined && { client_trusted_domains: trustedDomains }),
    ...Object.fromEntries((options.set ?? []).map(parseAssignment)),
  };
}

function parseAssignment(text: string): [string, unknown] {
  const [, field, value] = /^([a-z_]+)=(.*)$/s.exec(text) ?? [];
  if (field === undefined || value === undefined) {
    throw usageError(`--set requires field=value, not "${text}"`);
  }
  try {
    return [field, JSON.parse(value)];
  } catch {
    return [field, value];
  }
}

function printProject({ print }: Context, project: JsonObject): void {
  const { server_side_key: server, client_side_key: client, object: _, ...fields } = project;
  const keys = [
    ...keyLines("SCRIP_APP_ID", "SCRIP_APP_TOKEN", server),
    ...keyLines("SCRIP_CLIENT_APP_ID", "SCRIP_CLIENT_TOKEN", client),
  ];
  print({ json: project, text: [formatFields(fields), ...keys].join("\n") });
}

/** Formatted as shell variables, ready to paste. */
function keyLines(idName: string, tokenName: string, key: unknown): string[] {
  if (typeof key !== "object" || key === null) return [];
  const { app_id: id, app_token: token } = key as JsonObject;
  return [`${idName}=${String(id)}`, `${tokenName}=${String(token)}`];
}
