import type { Binding } from "@scrip/contract";

/** The credentials of the three sides (spec/interface.md, Authentication). */
export const securitySchemes = {
  AppId: header("X-App-Id", "The id of a server-side key."),
  AppToken: header("X-App-Token", "The secret of a server-side key."),
  ClientApplicationId: header("X-Client-Application-Id", "The id of a client-side key."),
  ClientToken: header("X-Client-Token", "The secret of a client-side key."),
  Origin: header(
    "Origin",
    "Scheme, host name and port of the calling page; one that the project trusts.",
  ),
  ManagementId: header("X-Management-Id", "The id of the installation's management key."),
  ManagementToken: header("X-Management-Token", "The secret of the installation's management key."),
  AccessToken: {
    type: "http",
    scheme: "bearer",
    description:
      "An access token of POST /v1/oauth/token, with the scope that the operation names.",
  },
} as const;

type Requirement = Readonly<Record<string, readonly string[]>>;

/** What a request to the binding must show, all of it. */
export function securityOf({ side, scope }: Binding): readonly Requirement[] {
  const scopes = scope === undefined ? [] : [scope];
  switch (side) {
    case "server":
      return [{ AppId: [], AppToken: [], AccessToken: scopes }];
    case "client":
      return [{ ClientApplicationId: [], ClientToken: [], Origin: [], AccessToken: scopes }];
    case "management":
      return [{ ManagementId: [], ManagementToken: [] }];
    case "key_only":
      return [{ AppId: [], AppToken: [] }];
    case "anyone":
      return [];
  }
}

function header(name: string, description: string) {
  return { type: "apiKey", in: "header", name, description } as const;
}
