import { Command, CommanderError } from "commander";

import { CliError, EXIT_FAILED, EXIT_USAGE } from "./cli-error.ts";
import { addCheckInvariants } from "./commands/check-invariants.ts";
import { addKeys } from "./commands/keys.ts";
import { addMigrations } from "./commands/migrations.ts";
import { addProjects } from "./commands/projects.ts";
import { addServiceKeys } from "./commands/service-keys.ts";
import { addToken } from "./commands/token.ts";
import type { Context } from "./context.ts";
import { type Environment, readSettings } from "./settings.ts";

export type CliRun = {
  readonly args: readonly string[];
  readonly env: Environment;
  readonly write: (text: string) => void;
  readonly writeError: (text: string) => void;
};

/** Runs one command and returns the exit code: 0 success, 1 failure, 2 invalid usage. */
export async function runCli({ args, env, write, writeError }: CliRun): Promise<number> {
  const program = new Command("scrip")
    .description("Operates an installation of Scrip.")
    .option("--json", "print JSON for programs instead of text for people")
    .showHelpAfterError("(add --help for what there is)")
    .exitOverride()
    .configureOutput({ writeOut: write, writeErr: writeError })
    .addHelpText("after", ENVIRONMENT_HELP);
  const asJson = (): boolean => program.opts<{ json?: boolean }>().json === true;
  const context: Context = {
    settings: await readSettings(env),
    print: ({ json, text }) => write(`${asJson() ? JSON.stringify(json, null, 2) : text}\n`),
    note: (line) => writeError(`${line}\n`),
  };
  addProjects(program, context);
  addKeys(program, context);
  addToken(program, context);
  addMigrations(program, context);
  addServiceKeys(program, context);
  addCheckInvariants(program, context);
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
Environment (what is not set is read from keys.env in the data folder):
  SCRIP_DATA_DIR                                data folder of a standalone installation (.scrip)
  SCRIP_BASE_URL                                where the installation answers
  SCRIP_MANAGEMENT_ID, SCRIP_MANAGEMENT_TOKEN   open projects and keys
  SCRIP_APP_ID, SCRIP_APP_TOKEN                 the application that a token is for
  DATABASE_URL                                  the database, for migrations and checks
  SCRIP_SERVICE_KEY, SCRIP_SERVICE_JWKS         the key pair of the services

Exit codes: 0 done, 1 failed or violations found, 2 not understood.`;

/**
 * Some errors have no message, such as the AggregateError of a refused connection: their name is
 * shown.
 */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof AggregateError) return error.errors.map(messageOf).join("; ");
  return error.message || error.name;
}
