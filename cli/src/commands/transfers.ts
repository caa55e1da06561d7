import { readFile } from "node:fs/promises";

import { Argument, type Command, InvalidArgumentError } from "commander";

import { type Api, download, openApi } from "../api.ts";
import { poll, waitForAction } from "../async-actions.ts";
import { CliError, usageError } from "../cli-error.ts";
import type { Context } from "../context.ts";
import { checkWritable } from "../files.ts";
import type { JsonObject } from "../http.ts";
import { countOf } from "../output.ts";
import { encode } from "./arguments.ts";

const IMPORTS = ["vouchers", "customers", "products", "skus", "orders"] as const;
const EXPORTS = [
  "order",
  "voucher",
  "publication",
  "redemption",
  "customer",
  "points_expiration",
  "voucher_transactions",
  "product",
  "sku",
] as const;

/** Failed items that are shown; `--json` prints all that the API lists. */
const MAX_SHOWN = 20;

type ImportOptions = { readonly campaign?: string };
type ExportOptions = {
  readonly output: string;
  readonly fields?: string[];
  readonly order?: string;
  readonly filters?: string;
};

/** Commands for long work of the API, which show its progress. */
export function addTransfers(program: Command, context: Context): void {
  program
    .command("import")
    .description("Import a CSV file (orders: JSON) and wait for the result.")
    .addArgument(kindArgument("<kind>", "what the file contains", IMPORTS))
    .argument("<file>", "file to import")
    .option("--campaign <campaign>", "id or name of the campaign of vouchers")
    .action((kind: string, file: string, options: ImportOptions) =>
      importFile(context, kind, file, options),
    );
  program
    .command("export")
    .description("Export all objects of one kind, or those that match the filters, to a CSV file.")
    .addArgument(kindArgument("<object>", "kind of objects", EXPORTS))
    .requiredOption("-o, --output <file>", "file to write")
    .option("--fields <field...>", "columns of the file (default: the default fields of the kind)")
    .option("--order <field>", "order of the rows; - in front for descending")
    .option("--filters <json>", "filters, as in POST /v1/exports")
    .action((object: string, options: ExportOptions) => exportFile(context, object, options));
  program
    .command("generate")
    .description("Add codes to a campaign and wait until they are generated.")
    .argument("<campaign>", "id or name of the campaign")
    .argument("<count>", "number of codes")
    .action((campaign: string, count: string) => generateCodes(context, campaign, count));
  program
    .command("wait")
    .description("Show the progress of an async action until it ends.")
    .argument("<action>", "id of the async action")
    .action(async (id: string) => finish(context, await openApi(context.settings), id));
}

/** The API names kinds in the plural for imports and in the singular for exports: both take either. */
function kindArgument(name: string, description: string, kinds: readonly string[]): Argument {
  return new Argument(name, description).choices(kinds).argParser((text) => {
    const kind = kinds.find((each) => singular(each) === singular(text));
    if (kind !== undefined) return kind;
    throw new InvalidArgumentError(`Allowed choices are ${kinds.join(", ")}.`);
  });
}

const singular = (kind: string): string => kind.replace(/s$/, "");

async function importFile(
  context: Context,
  kind: string,
  file: string,
  { campaign }: ImportOptions,
): Promise<void> {
  if (campaign !== undefined && kind !== "vouchers")
    throw usageError("--campaign applies to vouchers only");
  const api = await openApi(context.settings);
  const started =
    kind === "orders"
      ? await api.call("POST", "/v1/orders/import", await readRows(file))
      : await api.upload(importPath(kind, campaign), file);
  await finish(context, api, actionOf(started));
}

export const importPath = (kind: string, campaign?: string): string =>
  campaign === undefined ? `/v1/${kind}/importCSV` : `/v1/campaigns/${encode(campaign)}/importCSV`;

export const actionOf = (started: JsonObject): string => String(started["async_action_id"]);

async function readRows(file: string): Promise<readonly JsonObject[]> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as JsonObject[];
  } catch (error) {
    throw usageError(`${file} cannot be read as JSON: ${(error as Error).message}`);
  }
}

async function generateCodes(context: Context, campaign: string, count: string): Promise<void> {
  if (!/^[1-9]\d*$/.test(count)) throw usageError(`"${count}" is not a number of codes`);
  const api = await openApi(context.settings);
  const path = `/v1/campaigns/${encode(campaign)}/vouchers?vouchers_count=${count}`;
  const created = await api.call("POST", path, {});
  if (created["async_action_id"] !== undefined) return finish(context, api, actionOf(created));
  context.print({ json: created, text: `created ${String(created["code"])}` });
}

/** Waits for an action and prints its result; fails when an item has failed. */
async function finish(context: Context, api: Api, id: string): Promise<void> {
  context.note(`async action ${id} (continues when this command is interrupted: scrip wait ${id})`);
  const action = await runAction(context, api, id);
  const { message, failed } = (action["result"] ?? {}) as JsonObject;
  const failures = (Array.isArray(failed) ? failed : []) as JsonObject[];
  const done = `${String(action["processed"])} done, ${String(action["failed"])} failed`;
  context.print({
    json: action,
    text: [
      typeof message === "string" ? message : done,
      ...failures.slice(0, MAX_SHOWN).map(describeFailure),
    ].join("\n"),
  });
  if (action["status"] === "FAILED") throw new CliError("the action failed");
  const failedItems = Number(action["failed"]);
  if (failedItems > 0) throw new CliError(`${countOf(failedItems, "item")} failed`);
}

export async function runAction(
  { startProgress }: Context,
  api: Api,
  id: string,
): Promise<JsonObject> {
  using progress = startProgress(id);
  // Awaited here: the bar ends with the block.
  return await waitForAction(api, id, progress);
}

function describeFailure({ row, reason, ...name }: JsonObject): string {
  const where = typeof row === "number" ? `row ${row}: ` : "";
  return `  ${where}${Object.values(name).join(" ")}: ${String(reason)}`;
}

async function exportFile(context: Context, object: string, options: ExportOptions): Promise<void> {
  const { output, fields, order, filters } = options;
  await checkWritable(output);
  const api = await openApi(context.settings);
  const rows = await runExport(context, api, output, {
    exported_object: object,
    parameters: {
      ...(fields !== undefined && { fields }),
      ...(order !== undefined && { order }),
      ...(filters !== undefined && { filters: parseFilters(filters) }),
    },
  });
  context.print({
    json: { file: output, rows },
    text: `wrote ${countOf(rows, "row")} to ${output}`,
  });
}

/** Exports to a file and returns the number of rows. */
export async function runExport(
  { settings, startProgress }: Pick<Context, "settings" | "startProgress">,
  api: Api,
  file: string,
  request: JsonObject,
): Promise<number> {
  const { id } = await api.call("POST", "/v1/exports", request);
  using progress = startProgress(String(id));
  const done = await poll(api, `/v1/exports/${String(id)}`, ({ status, processed }) => {
    progress.update(Number(processed ?? 0));
    return status === "DONE" || status === "ERROR";
  });
  const { url, error } = (done["result"] ?? {}) as JsonObject;
  if (typeof url !== "string") throw new CliError(`the export failed: ${String(error)}`);
  await download(settings, url, file);
  return Number(done["processed"]);
}

function parseFilters(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw usageError("--filters must be JSON");
  }
}
