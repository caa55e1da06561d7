import type { LoadSpec } from "./load-client.ts";
import type { Standalone } from "./standalone.ts";

/** Where an installation serves HTTP, and its credentials. */
export type Server = Pick<Standalone, "port" | "keys">;

/** Requests with the credentials of a server-side application. */
export type Api = {
  /** Creates an object and returns its id. */
  readonly create: (route: string, body: object) => Promise<string>;
  /** The constant parts of a repeated request; a code may be inserted between the two. */
  readonly request: (
    route: { readonly before: string; readonly after: string },
    body: Body,
  ) => Request;
};

/** One body, or several of the same length; each request uses a random one. */
export type Body = string | readonly string[];
type Request = Pick<LoadSpec, "port" | "before" | "after" | "bodies">;

export async function openApi(server: Server): Promise<Api> {
  const { port } = server;
  const headers = { ...(await authenticate(server)), "Content-Type": "application/json" };
  return {
    create: async (route, body) => {
      const created = await post({ port }, route, { headers, body: JSON.stringify(body) });
      return String(created["id"]);
    },
    request: ({ before, after }, body) => {
      const bodies = typeof body === "string" ? [body] : body;
      const length = Buffer.byteLength(bodies[0] ?? "");
      if (bodies.some((one) => Buffer.byteLength(one) !== length)) {
        throw new Error("the bodies of a load differ in length");
      }
      return {
        port,
        bodies,
        before: `POST ${before}`,
        after:
          `${after} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n` +
          Object.entries({ ...headers, "Content-Length": String(length) })
            .map(([name, value]) => `${name}: ${value}\r\n`)
            .join("") +
          "\r\n",
      };
    },
  };
}

/** Sets the stacking rules of the benchmark's project with management credentials. */
export async function setStackingRules({ port, keys }: Server, rules: object): Promise<void> {
  const headers = {
    "X-Management-Id": keys["SCRIP_MANAGEMENT_ID"] ?? "",
    "X-Management-Token": keys["SCRIP_MANAGEMENT_TOKEN"] ?? "",
    "Content-Type": "application/json",
  };
  const projects = `http://127.0.0.1:${port}/management/v1/projects`;
  const response = await fetch(projects, { headers });
  const { data: [project] = [] } = (await response.json()) as { data?: { id: string }[] };
  if (project === undefined) throw new Error("the installation has no project");
  const body = JSON.stringify(rules);
  await post({ port }, `/management/v1/projects/${project.id}/stacking-rules`, { headers, body });
}

export async function authenticate({ port, keys }: Server): Promise<Record<string, string>> {
  const application = {
    "X-App-Id": keys["SCRIP_APP_ID"] ?? "",
    "X-App-Token": keys["SCRIP_APP_TOKEN"] ?? "",
  };
  const { access_token: token } = await post({ port }, "/v1/oauth/token", {
    headers: { ...application, "Content-Type": "application/x-www-form-urlencoded" },
    body: "grant_type=client_credentials&scope=api",
  });
  return { ...application, Authorization: `Bearer ${String(token)}` };
}

async function post(
  { port }: { port: number },
  route: string,
  request: { headers: Record<string, string>; body: string },
): Promise<Record<string, unknown>> {
  const response = await fetch(`http://127.0.0.1:${port}${route}`, { method: "POST", ...request });
  const text = await response.text();
  if (!response.ok) throw new Error(`POST ${route} returned ${response.status}: ${text}`);
  return JSON.parse(text) as Record<string, unknown>;
}
