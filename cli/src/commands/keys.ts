import { type Command, Option } from "commander";

import type { Context } from "../context.ts";
import { callManagement, type JsonObject } from "../http.ts";
import { formatFields, formatTable } from "../output.ts";
import { confirmed, encode } from "./arguments.ts";

type CreateOptions = {
  readonly name: string;
  readonly kind: string;
  readonly scope?: string[];
  readonly allowIp?: string[];
};

export function addKeys(program: Command, context: Context): void {
  const keys = program.command("keys").description("Manage API keys of a project.");
  withProject(keys.command("list").description("List the keys of a project, newest first.")).action(
    (project: string) => listKeys(context, project),
  );
  withProject(
    keys.command("create").description("Create a key; its secret (app token) is shown only once."),
  )
    .requiredOption("--name <name>", "name of the key")
    .addOption(
      new Option("--kind <kind>", "side of the API that the key may call")
        .choices(["server", "client"])
        .default("server"),
    )
    .option(
      "--scope <scope...>",
      "scopes that tokens of the key may request (default: all of its kind)",
    )
    .option("--allow-ip <range...>", "addresses or CIDR ranges that may use the key (default: all)")
    .action((project: string, options: CreateOptions) => createKey(context, project, options));
  withKey(
    keys
      .command("block")
      .description("Block a key: it gets no new access tokens, and its live ones stop working."),
  ).action(async (project: string, key: string) => {
    const path = `${keyPath(project, key)}/block`;
    printKey(context, await callManagement(context.settings, "POST", path, {}));
  });
  confirmed(
    withKey(
      keys
        .command("regenerate")
        .description("Replace the secret (app token) of a key; its access tokens stay valid."),
    ),
  ).action(async (project: string, key: string) => {
    const path = `${keyPath(project, key)}/regenerate`;
    printSecret(context, await callManagement(context.settings, "POST", path, {}));
  });
  confirmed(
    withKey(keys.command("delete").description("Delete a key; its access tokens stop working.")),
  ).action(async (project: string, key: string) => {
    await callManagement(context.settings, "DELETE", keyPath(project, key));
    context.print({ json: { id: key, deleted: true }, text: `deleted ${key}` });
  });
}

const withProject = (command: Command): Command =>
  command.argument("<project>", "id of the project");

const withKey = (command: Command): Command =>
  withProject(command).argument("<key>", "id of the key (X-App-Id)");

const keyPath = (project: string, key: string): string =>
  `/${encode(project)}/api-keys/${encode(key)}`;

async function listKeys({ settings, print }: Context, project: string): Promise<void> {
  const response = await callManagement(settings, "GET", `/${encode(project)}/api-keys`);
  const keys = response["data"] as JsonObject[];
  print({
    json: keys,
    text: formatTable(
      ["ID", "NAME", "KIND", "BLOCKED", "SCOPES", "CREATED"],
      keys.map((key) => [
        String(key["id"]),
        String(key["name"]),
        String(key["kind"]),
        key["blocked"] === true ? "yes" : "no",
        listOf(key["scopes"]) || "all",
        String(key["created_at"]),
      ]),
    ),
  });
}

async function createKey(context: Context, project: string, options: CreateOptions): Promise<void> {
  const { name, kind, scope = [], allowIp = [] } = options;
  const body = { name, kind, scopes: scope, allowed_ips: allowIp };
  const path = `/${encode(project)}/api-keys`;
  printSecret(context, await callManagement(context.settings, "POST", path, body));
}

function printSecret(context: Context, key: JsonObject): void {
  printKey(context, key);
  context.note("The app token is shown only once: store it now.");
}

function printKey({ print }: Context, key: JsonObject): void {
  const { object: _, ...fields } = key;
  print({ json: key, text: formatFields(fields) });
}

const listOf = (value: unknown): string => (Array.isArray(value) ? value.join(" ") : "");
