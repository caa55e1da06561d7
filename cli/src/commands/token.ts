import type { Command } from "commander";

import type { Context } from "../context.ts";
import { requestToken } from "../http.ts";

type TokenOptions = { readonly scope?: string[]; readonly client?: boolean };

export function addToken(program: Command, context: Context): void {
  program
    .command("token")
    .description("Request an access token with an API key and print it.")
    .option("--scope <scope...>", "scopes of the token (default: api, or client_api with --client)")
    .option("--client", "use the client-side key, for /client/v1")
    .action((options: TokenOptions) => printToken(context, options));
}

async function printToken({ settings, print }: Context, options: TokenOptions): Promise<void> {
  const client = options.client === true;
  const scope = options.scope?.join(" ") ?? (client ? "client_api" : "api");
  const token = await requestToken(settings, { client, scope });
  // Without a label, so that a script can write `Authorization: Bearer $(npx scrip token)`.
  print({ json: token, text: String(token["access_token"]) });
}
