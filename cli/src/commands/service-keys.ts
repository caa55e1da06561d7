import { readFile } from "node:fs/promises";
import path from "node:path";

import { SERVER_SCOPES } from "@scrip/gateway/scopes";
import { createTokenSource, generateServiceKey, type ServiceKeys } from "@scrip/rpc";
import { type Command, Option } from "commander";

import { usageError } from "../cli-error.ts";
import type { Context } from "../context.ts";
import { CALLED_SERVICES } from "../services.ts";
import type { Settings } from "../settings.ts";

type TokenOptions = {
  readonly caller: string;
  readonly audience: string;
  readonly project: string[];
  readonly scope: string[];
};

export function addServiceKeys(program: Command, context: Context): void {
  program
    .command("service-key")
    .description("Create the Ed25519 key pair that authenticates services to each other.")
    .action(() => printServiceKey(context));
  program
    .command("service-token")
    .description("Create a token that is valid for a minute, to call a service over gRPC.")
    .requiredOption("--caller <name>", "name of the caller, for the logs")
    .addOption(
      new Option("--audience <service>", "called service")
        .choices(CALLED_SERVICES)
        .makeOptionMandatory(),
    )
    .requiredOption("--project <id...>", "ids of the projects that the token may access")
    .addOption(
      new Option("--scope <scope...>", "scopes of the public API that the token grants")
        .choices(SERVER_SCOPES)
        .makeOptionMandatory(),
    )
    .action((options: TokenOptions) => printServiceToken(context, options));
}

async function printServiceKey({ print, note }: Context): Promise<void> {
  const { signing, trusted } = await generateServiceKey();
  print({
    json: { SCRIP_SERVICE_KEY: signing, SCRIP_SERVICE_JWKS: trusted },
    text:
      `SCRIP_SERVICE_KEY='${JSON.stringify(signing)}'\n` +
      `SCRIP_SERVICE_JWKS='${JSON.stringify(trusted)}'`,
  });
  note(
    "The first is the secret signing key; the second is the public key that other services trust.",
  );
}

async function printServiceToken(
  { settings, print }: Context,
  options: TokenOptions,
): Promise<void> {
  const { caller, audience, project, scope } = options;
  const tokenFor = createTokenSource(await findServiceKeys(settings), {
    name: caller,
    internal: false,
    scopes: scope,
    projects: project,
  });
  const token = await tokenFor(audience);
  print({ json: { token, caller, audience, projects: project, scopes: scope }, text: token });
}

/** From the environment, or from the secrets of a standalone installation. */
async function findServiceKeys(settings: Settings): Promise<ServiceKeys> {
  const signing = settings.read("SCRIP_SERVICE_KEY");
  if (signing !== undefined) {
    const trusted = settings.read("SCRIP_SERVICE_JWKS");
    return {
      signing: parseJson("SCRIP_SERVICE_KEY", signing),
      trusted: trusted === undefined ? { keys: [] } : parseJson("SCRIP_SERVICE_JWKS", trusted),
    };
  }
  const file = path.join(settings.dataDir, "secrets.json");
  const text = await readFile(file, "utf8").catch(() => undefined);
  if (text === undefined) settings.need("SCRIP_SERVICE_KEY");
  return parseJson<{ serviceKeys: ServiceKeys }>(file, text ?? "").serviceKeys;
}

function parseJson<T>(name: string, text: string): T {
  try {
    return JSON.parse(text) as T;
  } catch {
    throw usageError(`${name} is not JSON: use the output of \`scrip service-key\``);
  }
}
