import type { Binding, Side } from "@scrip/contract";

/** Credentials by side (docs/authentication.md#credentials). */
export const securitySchemes = {
  AppId: header("X-App-Id", "The id of a server-side key."),
  AppToken: header("X-App-Token", "The secret of a server-side key."),
  ClientApplicationId: header("X-Client-Application-Id", "The id of a client-side key."),
  ClientToken: header("X-Client-Token", "The secret of a client-side key."),
  Origin: header(
    "Origin",
    "Scheme, host name and port of the client-side caller; must be a trusted domain of the project.",
  ),
  ManagementId: header("X-Management-Id", "The id of the installation's management key."),
  ManagementToken: header("X-Management-Token", "The secret of the installation's management key."),
  AccessToken: {
    type: "http",
    scheme: "bearer",
    description:
      "An access token from POST /v1/oauth/token with the scope that the operation requires.",
  },
} as const;

type Requirement = Readonly<Record<string, readonly string[]>>;

/** The schemes of a side; a request must satisfy all of them. */
const schemesOf = {
  server: ["AppId", "AppToken", "AccessToken"],
  client: ["ClientApplicationId", "ClientToken", "Origin", "AccessToken"],
  management: ["ManagementId", "ManagementToken"],
  key_only: ["AppId", "AppToken"],
  anyone: [],
} as const satisfies Record<Side, readonly (keyof typeof securitySchemes)[]>;

/** The credentials that an endpoint requires, and the scope of the token. */
export function securityOf({ side, scope }: Binding): readonly Requirement[] {
  if (side === "anyone") return [];
  const scopes = scope === undefined ? [] : [scope];
  const schemes = schemesOf[side].map((name) => [name, name === "AccessToken" ? scopes : []]);
  return [Object.fromEntries(schemes) as Requirement];
}

function header(name: string, description: string) {
  return { type: "apiKey", in: "header", name, description } as const;
}
