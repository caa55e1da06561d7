import { Command, CommanderError } from "commander";

import { CliError, EXIT_FAILED, EXIT_USAGE } from "./cli-error.ts";
import { addAudit } from "./commands/audit.ts";
import { addCheckInvariants } from "./commands/check-invariants.ts";
import { addConfig } from "./commands/config.ts";
import { addDeadLetters } from "./commands/dead-letters.ts";
import { addEvents } from "./commands/events.ts";
import { addImportFrom } from "./commands/import-from.ts";
import { addKeys } from "./commands/keys.ts";
import { addLedger } from "./commands/ledger.ts";
import { addMigrations } from "./commands/migrations.ts";
import { addProjects } from "./commands/projects.ts";
import { addSecrets } from "./commands/secrets.ts";
import { addServiceKeys } from "./commands/service-keys.ts";
import { addToken } from "./commands/token.ts";
import { addTransfers } from "./commands/transfers.ts";
import type { Context } from "./context.ts";
import { drawProgress, noProgress } from "./progress.ts";
import { type Environment, readSettings } from "./settings.ts";

export type CliRun = {
  readonly args: readonly string[];
  readonly env: Environment;
  readonly write: (text: string) => void;
  readonly writeError: (text: string) => void;
  /** Where progress is drawn. Default: it is not. */
  readonly terminal?: NodeJS.WritableStream;
};

/** Runs one command and returns the exit code: 0 success, 1 failure, 2 invalid usage. */
export async function runCli({ args, env, write, writeError, terminal }: CliRun): Promise<number> {
  const program = new Command("scrip")
    .description("Operates a Scrip installation.")
    .option("--json", "print JSON instead of text")
    .showHelpAfterError("(run with --help for usage)")
    .exitOverride()
    .configureOutput({ writeOut: write, writeErr: writeError })
    .addHelpText("after", ENVIRONMENT_HELP);
  const asJson = (): boolean => program.opts<{ json?: boolean }>().json === true;
  const context: Context = {
    settings: await readSettings(env),
    print: ({ json, text }) => write(`${asJson() ? JSON.stringify(json, null, 2) : text}\n`),
    note: (line) => writeError(`${line}\n`),
    startProgress: (label) =>
      (terminal === undefined || asJson() ? noProgress : drawProgress(terminal))(label),
  };
  addProjects(program, context);
  addKeys(program, context);
  addConfig(program, context);
  addTransfers(program, context);
  addImportFrom(program, context);
  addToken(program, context);
  addMigrations(program, context);
  addSecrets(program, context);
  addServiceKeys(program, context);
  addEvents(program, context);
  addDeadLetters(program, context);
  addCheckInvariants(program, context);
  addLedger(program, context);
  addAudit(program, context);
  try {
    await program.parseAsync(args, { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE;
    writeError(
      asJson()
        ? `${JSON.stringify({ error: messageOf(error) })}\n`
        : `scrip: ${messageOf(error)}\n`,
    );
    return error instanceof CliError ? error.exitCode : EXIT_FAILED;
  }
}

const ENVIRONMENT_HELP = `
Environment variables (read from keys.env in the data folder when not set):
  SCRIP_DATA_DIR                                data folder of a standalone installation (default: .scrip)
  SCRIP_BASE_URL                                base URL of the installation
  SCRIP_MANAGEMENT_ID, SCRIP_MANAGEMENT_TOKEN   credentials for projects and keys
  SCRIP_APP_ID, SCRIP_APP_TOKEN                 server-side API key
  SCRIP_CLIENT_APP_ID, SCRIP_CLIENT_TOKEN       client-side API key (scrip token --client)
  DATABASE_URL                                  database for migrations and checks
  SCRIP_<SERVICE>_DATABASE_URL                  database of one service, such as SCRIP_VOUCHER_DATABASE_URL (default: DATABASE_URL)
  SCRIP_EVENTS_DATABASE_URL                     database of the event log (default: DATABASE_URL)
  SCRIP_SERVICE_KEY, SCRIP_SERVICE_JWKS         key pair of the services

Exit codes: 0 success, 1 failure or violations found, 2 invalid usage.`;

/**
 * Some errors have no message, such as the AggregateError of a refused connection: their name is
 * shown.
 */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof AggregateError) return error.errors.map(messageOf).join("; ");
  return error.message || error.name;
}
